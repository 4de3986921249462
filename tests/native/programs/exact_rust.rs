//! Counts the lines that it executes, and ends in the way that its argument names.
use std::collections::BTreeMap;
use std::hint::black_box;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

const LINES: usize = 512;
static BOOKS: [AtomicU64; LINES] = [const { AtomicU64::new(0) }; LINES];

#[inline(always)]
fn hit(line: u32) {
    BOOKS[line as usize].fetch_add(1, Ordering::Relaxed);
}

extern "C" {
    fn atexit(handler: extern "C" fn()) -> i32;
}

extern "C" fn print_books() {
    for (line, count) in BOOKS.iter().enumerate() {
        let count = count.load(Ordering::Relaxed);
        if count > 0 {
            println!("0:{line}={count}");
        }
    }
}

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);
struct Line;

impl Shape for Square {
    fn area(&self) -> u64 {
        hit(line!());
        self.0 * self.0
    }
}

impl Shape for Line {
    fn area(&self) -> u64 {
        hit(line!());
        0
    }
}

struct Guard<'a>(&'a str);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        hit(line!());
        if thread::panicking() {
            hit(line!());
        }
        if self.0.is_empty() {
            hit(line!());
        }
    }
}

#[inline(never)]
fn largest<T: PartialOrd + Copy>(items: &[T]) -> Option<T> {
    let mut best = *items.first()?;
    hit(line!());
    for &item in items {
        if item > best {
            hit(line!());
            best = item;
        }
    }
    Some(best)
}

#[inline(never)]
fn number(text: &str) -> Result<i64, std::num::ParseIntError> {
    hit(line!());
    let value: i64 = text.parse()?;
    hit(line!());
    Ok(value)
}

#[inline(never)]
fn fails_on(n: u32, bad: u32) -> u32 {
    let _guard = Guard("g");
    hit(line!());
    if n == bad {
        hit(line!());
        panic!("no {n}");
    }
    hit(line!());
    n + 1
}

#[inline(never)]
fn descend(depth: u32, bottom: u32) -> u32 {
    hit(line!());
    if depth == 0 {
        return fails_on(bottom, 3);
    }
    let below = descend(depth - 1, bottom);
    if below < 100 {
        hit(line!());
    }
    below + 1
}

#[inline(never)]
fn caught(bottom: u32) -> u32 {
    let result = catch_unwind(|| descend(4, bottom));
    match result {
        Ok(value) => {
            hit(line!());
            value
        }
        Err(_) => {
            hit(line!());
            0
        }
    }
}

#[inline(never)]
fn passed_on(bottom: u32) -> u32 {
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let first = catch_unwind(|| fails_on(bottom, bottom));
        hit(line!());
        if let Err(payload) = first {
            hit(line!());
            resume_unwind(payload);
        }
        hit(line!());
    }));
    hit(line!());
    u32::from(tried.is_err())
}

#[inline(never)]
fn element(values: &[u64], index: usize) -> u64 {
    hit(line!());
    let value = values[index];
    hit(line!());
    value
}

#[inline(never)]
fn divide(a: u64, b: u64) -> u64 {
    hit(line!());
    let quotient = a / b;
    hit(line!());
    quotient
}

fn worker(n: u64, results: &mpsc::Sender<u64>) {
    for step in 0..n {
        hit(line!());
        if step % 3 == 0 {
            hit(line!());
            results.send(step).unwrap();
        }
    }
    if n == 5 {
        hit(line!());
        panic!("five");
    }
    hit(line!());
}

fn threads() -> u64 {
    let (sender, receiver) = mpsc::channel();
    let handles: Vec<_> = (0..8)
        .map(|n| {
            let sender = sender.clone();
            thread::spawn(move || worker(n, &sender))
        })
        .collect();
    drop(sender);
    let mut sum = 0;
    for value in receiver {
        hit(line!());
        sum += value;
    }
    let mut failed = 0;
    for handle in handles {
        if handle.join().is_err() {
            hit(line!());
            failed += 1;
        }
    }
    let mut scoped = 0;
    thread::scope(|scope| {
        for _ in 0..3 {
            let handle = scope.spawn(|| {
                hit(line!());
            });
            handle.join().unwrap();
        }
        scoped += 1;
    });
    sum * 10 + failed + scoped
}

fn words(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace().filter(|w| w.len() > 1) {
        hit(line!());
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

fn leave(depth: u32, how: &str) {
    let _guard = Guard("");
    hit(line!());
    if depth > 0 {
        leave(depth - 1, how);
        hit(line!());
        return;
    }
    match how {
        "exit" => {
            hit(line!());
            std::process::exit(7);
        }
        "panic" => {
            hit(line!());
            panic!("the end");
        }
        _ => hit(line!()),
    }
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    std::panic::set_hook(Box::new(|_| {
        hit(line!());
    }));
    unsafe { atexit(print_books) };
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(3)), Box::new(Line), Box::new(Square(2))];
    let area: u64 = shapes.iter().map(|shape| shape.area()).sum();
    let most = largest(black_box(&[3, 1, 4, 1, 5, 9, 2, 6][..])).unwrap_or(0) as u64;
    let none = largest::<f64>(&[]).is_none();
    let high = largest(black_box(&[0.5, 2.5, 1.5][..])).unwrap_or(0.0);
    let good = ["1", "x", "-7", "99999999999999999999"].iter().filter_map(|t| number(t).ok()).sum::<i64>();
    let mut total = 0;
    for bottom in 0..6 {
        total += caught(bottom);
    }
    total += passed_on(2);
    let values = [1, 2, 3];
    for index in 0..5 {
        total += catch_unwind(|| element(&values, index)).unwrap_or(100) as u32;
        total += catch_unwind(|| divide(7, index as u64)).unwrap_or(1000) as u32;
    }
    let shared = threads();
    let text = words("to be or not to be that is a question to be");
    println!("{area} {most} {none} {high} {good} {total} {shared} {}", text.len());
    leave(3, &how);
}
