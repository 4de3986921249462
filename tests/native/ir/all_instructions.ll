; Every opcode of the LangRef, in the forms that LLVM prints: views are compared with what LLVM itself says.
target triple = "x86_64-pc-linux-gnu"

%pair = type { i32, ptr }
%"quoted type" = type { i64 }

@global = external global i32
@"odd, name (x" = external addrspace(3) global [4 x i32]
@table = external constant [2 x ptr]

declare i32 @callee(i32, ...)
declare void @plain(ptr, i64)
declare ptr @pointer()
declare i32 @personality(...)
declare token @llvm.coro.id(i32, ptr readnone, ptr readonly, ptr)
declare void @llvm.assume(i1)
declare i32 @setjmp(ptr) returns_twice
declare i1 @llvm.type.test(ptr, metadata)

define i32 @arithmetic(i32 %a, i32 %b, float %x, <4 x float> %v, i1 %c) {
entry:
  %add = add nuw nsw i32 %a, %b
  %sub = sub i32 0, %a
  %mul = mul nsw i32 %add, -7
  %udiv = udiv exact i32 %a, 3
  %sdiv = sdiv i32 %a, %b
  %urem = urem i32 %a, %b
  %srem = srem i32 %a, %b
  %shl = shl nuw i32 %a, 1
  %lshr = lshr exact i32 %a, 1
  %ashr = ashr i32 %a, 31
  %and = and i32 %a, 255
  %or = or disjoint i32 %and, 256
  %xor = xor i1 %c, true
  %fneg = fneg fast float %x
  %fadd = fadd nnan ninf float %x, 1.000000e+00
  %fsub = fsub reassoc nsz arcp contract afn float %x, 0x7FF8000000000000
  %fmul = fmul <4 x float> %v, splat (float 2.000000e+00)
  %fdiv = fdiv float %x, %fadd
  %frem = frem float %x, %fadd
  %icmp = icmp samesign ult i32 %a, 10
  %pcmp = icmp eq ptr @global, null
  %vcmp = icmp sgt <4 x i32> <i32 1, i32 2, i32 3, i32 4>, zeroinitializer
  %fcmp = fcmp nnan une float %x, 0.000000e+00
  %select = select i1 %icmp, i32 %a, i32 ptrtoint (ptr @global to i32)
  %vselect = select fast <4 x i1> %vcmp, <4 x float> %v, <4 x float> %fmul
  %freeze = freeze i32 %mul
  ret i32 %freeze
}

define void @conversions(i64 %a, ptr %p, double %d, <2 x i32> %v) {
entry:
  %trunc = trunc nuw nsw i64 %a to i32
  %zext = zext nneg i32 %trunc to i64
  %sext = sext i32 %trunc to i128
  %fptrunc = fptrunc double %d to float
  %fpext = fpext float %fptrunc to x86_fp80
  %fptoui = fptoui double %d to i16
  %fptosi = fptosi double %d to i8
  %uitofp = uitofp nneg i32 %trunc to half
  %sitofp = sitofp i64 %a to bfloat
  %ptrtoint = ptrtoint ptr %p to i64
  %ptrtoaddr = ptrtoaddr ptr %p to i64
  %inttoptr = inttoptr i64 add (i64 ptrtoint (ptr @global to i64), i64 4) to ptr
  %bitcast = bitcast <2 x i32> %v to i64
  %space = addrspacecast ptr %p to ptr addrspace(3)
  ret void
}

define ptr addrspace(3) @memory(ptr %p, i64 %n, ptr addrspace(3) %q, i32 %e, <2 x ptr> %ps) {
entry:
  %one = alloca i32, align 4
  %many = alloca inalloca [4 x i8], i64 %n, align 16
  %struct = alloca %pair, align 8
  %load = load i32, ptr %one, align 4, !range !0, !noundef !1
  %volatile = load volatile %pair, ptr %struct, align 8
  %atomic = load atomic volatile i64, ptr %p syncscope("singlethread") acquire, align 8
  store i32 %load, ptr %one, align 4, !tbaa !2
  store volatile %pair { i32 1, ptr @global }, ptr %struct, align 8
  store atomic i32 0, ptr addrspace(3) @"odd, name (x" release, align 4
  fence syncscope("singlethread") seq_cst
  fence acq_rel
  %exchanged = cmpxchg weak volatile ptr %p, i64 0, i64 %n syncscope("agent") acq_rel monotonic, align 8
  %old = atomicrmw volatile umax ptr %p, i32 %e monotonic, align 4
  %fold = atomicrmw fadd ptr addrspace(3) %q, float 1.000000e+00 syncscope("agent") seq_cst, align 4
  %gep = getelementptr inbounds nuw %pair, ptr %struct, i64 0, i32 1
  %byte = getelementptr i8, ptr addrspace(3) %q, i64 %n
  %vgep = getelementptr i32, <2 x ptr> %ps, i64 1
  %wide = getelementptr [4 x i32], ptr %p, <2 x i64> splat (i64 1), i64 2
  %const = load ptr, ptr getelementptr inbounds ([2 x ptr], ptr @table, i64 0, i64 1), align 8
  ret ptr addrspace(3) %byte
}

define <2 x i16> @vectors(<4 x i16> %v, <vscale x 4 x i32> %s, i32 %i, { i32, { ptr, [2 x i8] } } %a) {
entry:
  %element = extractelement <4 x i16> %v, i64 0
  %inserted = insertelement <4 x i16> poison, i16 %element, i32 %i
  %shuffle = shufflevector <4 x i16> %v, <4 x i16> poison, <2 x i32> <i32 0, i32 poison>
  %scalable = shufflevector <vscale x 4 x i32> %s, <vscale x 4 x i32> poison, <vscale x 4 x i32> zeroinitializer
  %member = extractvalue { i32, { ptr, [2 x i8] } } %a, 1, 1, 0
  %changed = insertvalue { i32, { ptr, [2 x i8] } } %a, i8 7, 1, 1, 1
  %packed = insertvalue <{ i8, i32 }> undef, i32 %i, 1
  ret <2 x i16> %shuffle
}

define i32 @calls(i32 %n, ptr %f, i64 %"x y", ...) {
entry:
  %direct = call i32 (i32, ...) @callee(i32 noundef %n, ptr nonnull align 8 dereferenceable(16) @global)
  %tail = tail call fastcc noundef range(i32 0, 5) i32 %f(i32 signext %n, ptr byval(%pair) align 8 %f) #0
  %notail = notail call ptr @pointer() #1
  call void @plain(ptr getelementptr (i8, ptr @global, i64 1), i64 %"x y"), !srcloc !1
  %asm = call i32 asm sideeffect inteldialect "mov eax, \22(;\22 #1", "=r,r,~{memory}"(i32 %n) #0
  call void asm sideeffect "", "*m"(ptr elementtype(i32) @global)
  %c = icmp ne i32 %asm, 0
  call void @llvm.assume(i1 true) [ "align"(ptr %f, i64 16), "nonnull"(ptr %f) ]
  %token = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %meta = call i1 @llvm.type.test(ptr %f, metadata !"a, (b")
  %twice = call i32 @setjmp(ptr %f) #2
  %list = alloca ptr, align 8
  %arg = va_arg ptr %list, double
  %cast = call { i32, ptr } inttoptr (i64 4096 to ptr)({ i32, ptr } { i32 1, ptr null }, [2 x i64] zeroinitializer)
  %named = call %"quoted type" %f(<2 x i64> <i64 1, i64 2>)
  %last = musttail call i32 (i32, ptr, i64, ...) %f(i32 %n, ptr %f, i64 0, ...)
  ret i32 %last
}

define i32 @terminators(i32 %n, ptr %p, i1 %c) personality ptr @personality {
entry:
  br i1 %c, label %"a b", label %goto, !prof !3

"a b":
  switch i32 %n, label %goto [
    i32 0, label %invoke
    i32 -1, label %"a b.1"
    i32 7, label %invoke
  ], !prof !4

"a b.1":
  switch i32 %n, label %goto [
  ]

goto:
  indirectbr ptr %p, [label %invoke, label %callbr, label %out]

invoke:
  %r = invoke noundef i32 (i32, ...) @callee(i32 %n, ptr blockaddress(@terminators, %out)) #0 [ "deopt"(i32 1) ]
          to label %out unwind label %pad

callbr:
  %o = callbr i32 asm sideeffect "jmp ${2:l}; \22label %out\22", "=r,r,!i,!i"(i32 %n) #0
          to label %out [label %dead, label %out2], !srcloc !1

out2:
  br label %out

out:
  %phi = phi i32 [ %r, %invoke ], [ %o, %callbr ], [ 0, %out2 ], [ 1, %goto ]
  ret i32 %phi

dead:
  unreachable

pad:
  %caught = landingpad { ptr, i32 }
          cleanup
          catch ptr @global
          filter [1 x ptr] [ptr @global]
  resume { ptr, i32 } %caught
}

define void @funclets(i32 %n) personality ptr @personality {
entry:
  invoke void @plain(ptr null, i64 1)
          to label %done unwind label %dispatch

dispatch:
  %switch = catchswitch within none [label %handler, label %other] unwind label %cleanup

handler:
  %catch = catchpad within %switch [ptr @global, i32 64, ptr null]
  call void @plain(ptr null, i64 2) [ "funclet"(token %catch) ]
  catchret from %catch to label %done

other:
  %catch.2 = catchpad within %switch []
  invoke void @plain(ptr null, i64 3) [ "funclet"(token %catch.2) ]
          to label %dead unwind label %inner.dispatch

dead:
  unreachable

inner.dispatch:
  %inner = catchswitch within %catch.2 [label %nested] unwind label %cleanup

nested:
  %catch.3 = catchpad within %inner []
  unreachable

cleanup:
  %pad = cleanuppad within none [i32 %n]
  cleanupret from %pad unwind to caller

done:
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { nounwind "key"="} #7" }
attributes #2 = { returns_twice }

!0 = !{i32 0, i32 2}
!1 = !{}
!2 = !{!5, !5, i64 0}
!3 = !{!"branch_weights", i32 1, i32 2}
!4 = !{!"branch_weights", i32 1, i32 2, i32 3, i32 4}
!5 = !{!"int", !6}
!6 = !{!"root"}
