-- Plays a random legal action in any game: Lua 5.4, no library.
--
-- Answering with an index needs no JSON parser. In a copy of the line, all that is inside strings and inner brackets
-- is blotted out by as many signs; then what is left of its structure can be found by patterns.

io.stdout:setvbuf("line") -- a pipe is fully buffered, and the referee would wait in vain

local random = 1 -- the state of an xorshift64 generator: never zero

local function below(n)
  random = random ~ random << 13
  random = random ~ random >> 7
  random = random ~ random << 17
  -- Integers have a sign in Lua, these 64 bits have none.
  local rest = random - ((random >> 1) // n << 1) * n
  return math.ult(rest, n) and rest or rest - n
end

local function blot(text)
  return ("_"):rep(#text)
end

local function blot_inner(text)
  return (text:gsub("%b{}", blot):gsub("%b[]", blot))
end

-- The line's keys with the text of their values, without quotes; of "legal" how many items it has.
local function read(line)
  local message = {}
  local plain = line:gsub("\\.", "__"):gsub('"([^"]*)"', function(text) return '"' .. blot(text) .. '"' end)
  local top = "{" .. blot_inner(plain:sub(2))
  for key, key_end, value, value_end in top:gmatch('"()_*()"%s*:%s*()[^,}]*()') do
    message[line:sub(key, key_end - 1)] = line:sub(value, value_end - 1):match('^"?([^"%s]*)')
    if line:sub(key, key_end - 1) == "legal" then
      local items = blot_inner(plain:sub(value + 1, value_end - 1))
      message.legal = items:find("^%s*%]") and 0 or 1 + select(2, items:gsub(",", ","))
    end
  end
  return message
end

for line in io.lines() do
  local message = read(line)
  if message.type == "hello" then
    print('{"type":"hello","protocol":1,"wants":["legal"],"reusable":true}')
  elseif message.type == "start" then
    -- The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
    random = tonumber("0x" .. message.seed:sub(1, 16))
    if random == 0 then random = 1 end
    print('{"type":"ready"}')
  elseif message.type == "act" then
    print(('{"type":"act","id":%s,"action":%d}'):format(message.id, below(message.legal)))
  elseif message.type == "fault" then
    io.stderr:write(line, "\n")
  elseif message.type == "quit" then
    break
  end
end
