local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local random = 12345
local function nextrandom() random = (random * 1103515245 + 12345) % 2147483648 return random end
local list = {}
for i = 1, 20000 do list[i] = nextrandom() % 10007 end
table.sort(list)
local sum = 0
for i = 1, #list do sum = sum + list[i] * (i % 7) end
local parts = {}
for i = 1, 5000 do parts[#parts + 1] = string.format("%d:%s", i, tostring(i * i)) end
local joined, digits = table.concat(parts, ","), 0
for word in joined:gmatch("%d+") do digits = digits + #word end
local seen = {}
for i = 1, 30000 do local key = "k" .. (nextrandom() % 500); seen[key] = (seen[key] or 0) + i end
local Account = {}
Account.__index = Account
function Account.new() return setmetatable({balance = 0}, Account) end
function Account:deposit(x) self.balance = self.balance + x end
function Account:withdraw(x)
  if x > self.balance then error("broke", 0) end
  self.balance = self.balance - x
end
local account, failures = Account.new(), 0
for i = 1, 5000 do
  account:deposit(nextrandom() % 100)
  if not pcall(account.withdraw, account, nextrandom() % 150) then failures = failures + 1 end
end
local producer = coroutine.wrap(function() for i = 1, 5000 do coroutine.yield(i * 0.5) end end)
local halves = 0.0
for _ = 1, 5000 do halves = halves + producer() end
local sieve, primes = {}, 0
for i = 2, 30000 do
  if not sieve[i] then primes = primes + 1; for j = i * i, 30000, i do sieve[j] = true end end
end
print(fib(24), sum, digits, seen.k7, account.balance, failures, halves, primes)
