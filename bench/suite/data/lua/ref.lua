-- Trees, records, text, numbers and errors, with a line for each that says what came of it.

local state = 20231
local function random(limit)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % limit
end

-- Objects with inheritance: a balanced tree (treap) of keys.
local Node = {}
Node.__index = Node
local function leaf(key) return setmetatable({key = key, rank = random(32768)}, Node) end

function Node.turned(node, up, down)
  local child = node[up]
  node[up] = child[down]
  child[down] = node
  return child
end

function Node.with(node, key)
  if not node then return leaf(key) end
  if key == node.key then return node end
  local side, other = "left", "right"
  if key > node.key then side, other = other, side end
  node[side] = Node.with(node[side], key)
  if node[side].rank < node.rank then return node:turned(side, other) end
  return node
end

function Node.walk(node, visit, depth)
  if not node then return end
  Node.walk(node.left, visit, depth + 1)
  visit(node.key, depth)
  Node.walk(node.right, visit, depth + 1)
end

local root
for _ = 1, 2500 do root = Node.with(root, random(20000)) end
local count, deepest, sum = 0, 0, 0
Node.walk(root, function(key, depth)
  count, sum = count + 1, sum + key
  if depth > deepest then deepest = depth end
end, 1)
print("tree", count, deepest, sum)

-- Queens on a board, by backtracking in plain arrays.
local function queens(size)
  local columns, up, down, found = {}, {}, {}, 0
  local function place(row)
    if row > size then found = found + 1 return end
    for column = 1, size do
      local rising, falling = row + column, row - column + size
      if not (columns[column] or up[rising] or down[falling]) then
        columns[column], up[rising], down[falling] = true, true, true
        place(row + 1)
        columns[column], up[rising], down[falling] = false, false, false
      end
    end
  end
  place(1)
  return found
end
print("queens", queens(6), queens(7))

-- Values to text and back, with errors thrown out of the middle of a broken text.
local function encode(value)
  local kind = type(value)
  if kind == "table" then
    local parts = {}
    if #value > 0 then
      for i, item in ipairs(value) do parts[i] = encode(item) end
      return "[" .. table.concat(parts, ",") .. "]"
    end
    for key, item in pairs(value) do parts[#parts + 1] = string.format("%q:%s", key, encode(item)) end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
  elseif kind == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
  end
  return tostring(value)
end

local function decode(text)
  local at = 1
  local function skip() at = text:find("%S", at) or #text + 1 end
  local function fail(what) error({what = what, at = at}, 0) end
  local value
  local function items(close, each)
    local result = {}
    at = at + 1
    skip()
    if text:sub(at, at) == close then at = at + 1 return result end
    while true do
      each(result)
      skip()
      local mark = text:sub(at, at)
      at = at + 1
      if mark == close then return result end
      if mark ~= "," then fail("separator") end
    end
  end
  local function word()
    local last = text:find('"', at + 1, true) or fail("open string")
    local raw = text:sub(at + 1, last - 1)
    at = last + 1
    return (raw:gsub("\\u(%x%x%x%x)", function(hex) return utf8.char(tonumber(hex, 16)) end))
  end
  function value()
    skip()
    local mark = text:sub(at, at)
    if mark == "{" then
      return items("}", function(result)
        skip()
        if text:sub(at, at) ~= '"' then fail("key") end
        local key = word()
        skip()
        if text:sub(at, at) ~= ":" then fail("colon") end
        at = at + 1
        result[key] = value()
      end)
    elseif mark == "[" then
      return items("]", function(result) result[#result + 1] = value() end)
    elseif mark == '"' then
      return word()
    end
    local first, last, number = text:find("^(-?%d+%.?%d*)", at)
    if first then at = last + 1 return tonumber(number) end
    for name, constant in pairs({["true"] = true, ["false"] = false}) do
      if text:sub(at, at + #name - 1) == name then at = at + #name return constant end
    end
    fail("value")
  end
  local result = value()
  skip()
  if at <= #text then fail("rest") end
  return result
end

local function record(i)
  return {
    id = i, name = "n\"" .. string.rep("ab", i % 5) .. "\n", ok = i % 3 == 0,
    tags = {"t" .. i % 7, "u" .. i % 11, i * 2}, inner = {depth = i % 4, list = {i, i + 1, {x = i}}},
  }
end
local again, failures, bytes = 0, {}, 0
for i = 1, 150 do
  local text = encode(record(i))
  bytes = bytes + #text
  if i % 4 == 0 then
    local cut = 1 + random(#text)
    text = text:sub(1, cut - 1) .. ("]}:,x"):sub(i % 5 + 1, i % 5 + 1) .. text:sub(cut + 1)
  end
  local good, result = pcall(decode, text)
  if good then
    if encode(result) == text then again = again + 1 end
  else
    local kind = type(result) == "table" and result.what or "other"
    failures[kind] = (failures[kind] or 0) + 1
  end
end
local kinds = {}
for kind, number in pairs(failures) do kinds[#kinds + 1] = kind .. "=" .. number end
table.sort(kinds)
print("text", bytes, again, table.concat(kinds, " "))

-- Floating point: products of matrices, and a sum that must not depend on how they are built.
local function matrix(size, fill)
  local rows = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do row[j] = fill(i, j) end
    rows[i] = row
  end
  return rows
end
local function product(a, b, size)
  return matrix(size, function(i, j)
    local total, row = 0.0, a[i]
    for k = 1, size do total = total + row[k] * b[k][j] end
    return total
  end)
end
local size = 26
local a = matrix(size, function(i, j) return (i * 3 + j) % 7 / 4 end)
local b = matrix(size, function(i, j) return (i + j * 5) % 9 / 8 - 0.5 end)
local c = product(product(a, b, size), a, size)
local trace = 0.0
for i = 1, size do trace = trace + c[i][i] end
print("matrix", string.format("%.6f %.6f", trace, c[1][size]))

-- Words: a generator in a coroutine, counted in a table, sorted by two keys.
local function words(number)
  return coroutine.wrap(function()
    for i = 1, number do
      local length = 1 + random(3)
      local letters = {}
      for j = 1, length do letters[j] = string.char(97 + random(6)) end
      coroutine.yield(table.concat(letters), i)
    end
  end)
end
local seen = {}
for word in words(4000) do seen[word] = (seen[word] or 0) + 1 end
local list = {}
for word, number in pairs(seen) do list[#list + 1] = {word = word, number = number} end
table.sort(list, function(one, other)
  if one.number ~= other.number then return one.number > other.number end
  return one.word < other.word
end)
local first = {}
for i = 1, 6 do first[i] = list[i].word .. ":" .. list[i].number end
print("words", #list, table.concat(first, " "))

-- Sets as values with operators of their own.
local Set = {}
Set.__index = Set
local function set(items)
  local result = setmetatable({size = 0, has = {}}, Set)
  for _, item in ipairs(items) do
    if not result.has[item] then result.has[item], result.size = true, result.size + 1 end
  end
  return result
end
function Set:items()
  local result = {}
  for item in pairs(self.has) do result[#result + 1] = item end
  table.sort(result)
  return result
end
Set.__add = function(one, other)
  local all = one:items()
  table.move(other:items(), 1, other.size, #all + 1, all)
  return set(all)
end
Set.__mul = function(one, other)
  local both = {}
  for _, item in ipairs(one:items()) do if other.has[item] then both[#both + 1] = item end end
  return set(both)
end
Set.__eq = function(one, other) return one.size == other.size and (one * other).size == one.size end
Set.__len = function(one) return one.size end
Set.__lt = function(one, other) return one.size < other.size end
local sets = {}
for i = 1, 22 do
  local items = {}
  for j = 1, 12 + i do items[j] = random(90) end
  sets[i] = set(items)
end
local same, smaller, members = 0, 0, 0
for i = 1, #sets do
  for j = i + 1, #sets, 4 do
    local union, common = sets[i] + sets[j], sets[i] * sets[j]
    if union * common == common then same = same + 1 end
    if sets[i] < sets[j] then smaller = smaller + 1 end
    members = members + #union
  end
end
print("sets", same, smaller, members)

-- Lines taken apart by patterns, filled in by name.
local template = "dear ${name}, your ${thing} no. ${number} of ${day} is ${state}"
local letters = {}
for i = 1, 300 do
  local values = {name = "N" .. i, thing = i % 2 == 0 and "parcel" or "letter", number = i * 37, state = "here"}
  letters[i] = template:gsub("%${(%w+)}", values)
end
local numbers, missing = 0, 0
for _, letter in ipairs(letters) do
  numbers = numbers + tonumber(letter:match("no%. (%d+)"))
  if letter:find("${day}", 1, true) then missing = missing + 1 end
end
print("letters", #table.concat(letters, "\n"), numbers, missing)
