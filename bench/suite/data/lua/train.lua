-- A heap, a grid, a cipher, numbers written out: other work than the script that is measured.

local seed = 77
local function nextnumber()
  seed = seed ~ (seed << 13) & 0xffffffff
  seed = seed ~ (seed >> 17)
  seed = seed ~ (seed << 5) & 0xffffffff
  return seed
end

-- A heap as a queue of what is due first, with closures for its two operations.
local function queue(before)
  local heap = {}
  local function push(item)
    local at = #heap + 1
    heap[at] = item
    while at > 1 and before(heap[at], heap[at // 2]) do
      heap[at], heap[at // 2] = heap[at // 2], heap[at]
      at = at // 2
    end
  end
  local function pop()
    local top, last = heap[1], #heap
    heap[1] = heap[last]
    heap[last] = nil
    local at = 1
    while true do
      local least = at
      for child = 2 * at, 2 * at + 1 do
        if heap[child] and before(heap[child], heap[least]) then least = child end
      end
      if least == at then return top end
      heap[at], heap[least] = heap[least], heap[at]
      at = least
    end
  end
  return push, pop, function() return #heap end
end

-- The shortest ways over a grid of costs.
local side = 15
local cost, distance = {}, {}
for i = 0, side * side - 1 do cost[i], distance[i] = 1 + nextnumber() % 9, math.huge end
local push, pop, waiting = queue(function(one, other) return one[1] < other[1] end)
distance[0] = 0
push({0, 0})
while waiting() > 0 do
  local far, place = table.unpack(pop())
  if far <= distance[place] then
    local x, y = place % side, place // side
    for _, step in ipairs({{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) do
      local u, v = x + step[1], y + step[2]
      if u >= 0 and u < side and v >= 0 and v < side then
        local there = v * side + u
        if far + cost[there] < distance[there] then
          distance[there] = far + cost[there]
          push({distance[there], there})
        end
      end
    end
  end
end
print("grid", distance[side - 1], distance[side * side - 1])

-- Cells that live and die, as lines of characters.
local rows = {}
for i = 1, 16 do
  local row = {}
  for j = 1, 40 do row[j] = nextnumber() % 3 == 0 and "#" or "." end
  rows[i] = table.concat(row)
end
local function alive(i, j)
  local row = rows[(i - 1) % #rows + 1]
  return row:byte((j - 1) % #row + 1) == 35 and 1 or 0
end
for _ = 1, 2 do
  local after = {}
  for i = 1, #rows do
    local row = {}
    for j = 1, #rows[i] do
      local around = -alive(i, j)
      for di = -1, 1 do for dj = -1, 1 do around = around + alive(i + di, j + dj) end end
      row[j] = (around == 3 or around == 2 and alive(i, j) == 1) and "#" or "."
    end
    after[i] = table.concat(row)
  end
  rows = after
end
local living = select(2, table.concat(rows):gsub("#", ""))
print("cells", living, rows[5])

-- Letters shifted by a key, and back; numbers written in words.
local function shifted(text, by)
  return (text:gsub("%l", function(c) return string.char((c:byte() - 97 + by) % 26 + 97) end))
end
local ones = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
local tens = {"ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
local function spoken(number)
  if number >= 1000 then return spoken(number // 1000) .. " thousand " .. spoken(number % 1000) end
  if number >= 100 then return ones[number // 100] .. " hundred " .. spoken(number % 100) end
  if number >= 10 then return tens[number // 10] .. " " .. spoken(number % 10) end
  return ones[number] or ""
end
local kept, length = 0, 0
for i = 1, 120 do
  local text = spoken(i * 389 % 100000)
  length = length + #text
  if shifted(shifted(text, i), -i) == text and text:reverse():reverse() == text then kept = kept + 1 end
end
print("spoken", kept, length, shifted(spoken(4711), 3))

-- Integers packed into bytes and taken out again, and what may go wrong with numbers.
local packed = {}
for i = 1, 150 do packed[i] = string.pack("<I2i4z", i, -i * 1000, "s" .. i) end
local joined, at, total = table.concat(packed), 1, 0
while at <= #joined do
  local short, long, name
  short, long, name, at = string.unpack("<I2i4z", joined, at)
  total = total + short * #name - long // 7
end
local wrong = 0
for _, text in ipairs({"12", "0x1p4", "abc", "1e3", "", "7 ", "1..2"}) do
  local good, value = pcall(function() return math.tointeger(assert(tonumber(text), text)) // 2 end)
  if not good or not value then wrong = wrong + 1 end
end
print("packed", #joined, total, wrong)

-- Sums over any number of arguments, with the rest handed on.
local function folded(step, start, ...)
  if select("#", ...) == 0 then return start end
  return folded(step, step(start, (...)), select(2, ...))
end
local results = {}
for i = 1, 30 do results[i] = folded(function(x, y) return x * 3 % 1009 + y end, i, table.unpack(results)) end
print("folded", folded(math.max, -1, table.unpack(results)), results[#results])
