-- netc lsp in Neovim, as docs/editors.md sets it up: make check-lsp.
-- nvim --headless -u NONE -l is newer than Debian 12's; so:
-- NETC=.. FOLDER=.. nvim --headless -u NONE -c 'luafile tests/lsp.lua'
local folder = os.getenv("FOLDER")

local function fail(why)
  io.stderr:write("neovim: " .. why .. "\n")
  vim.cmd("cquit")
end

local function await(what, found)
  if not vim.wait(20000, found, 20) then fail("no " .. what) end
end

local function write(name, lines)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(table.concat(lines, "\n") .. "\n")
  file:close()
  return folder .. "/" .. name
end

local function run()
  -- The five lines of the page, run as they stand there.
  local page = assert(io.open("docs/editors.md")):read("*a")
  local setup = assert(page:match("```lua\n(.-)```"), "the page has no Lua")
  assert(loadstring(setup))()

  local path = write("typed.net", { "input 8x8x3", "A: conv 4 3x3 # \u{1F600}",
    "poll 2x2", "fc 10" })
  vim.cmd("edit " .. path)
  await("client", function() return #vim.lsp.buf_get_clients(0) > 0 end)
  await("diagnostics", function() return #vim.diagnostic.get(0) == 1 end)
  local wrong = vim.diagnostic.get(0)[1]
  if wrong.code ~= "unknown-layer" or wrong.lnum ~= 2 or wrong.end_col ~= 4 then
    fail("another diagnostic: " .. vim.inspect(wrong))
  end

  -- An edit of the buffer, and the diagnostic is gone.
  vim.api.nvim_buf_set_lines(0, 2, 3, false, { "pool 2x2" })
  await("end of diagnostics", function() return #vim.diagnostic.get(0) == 0 end)

  local function ask(method, line, column, more)
    local params = vim.tbl_extend("force", {
      textDocument = { uri = vim.uri_from_bufnr(0) },
      position = { line = line, character = column },
    }, more or {})
    local all = vim.lsp.buf_request_sync(0, method, params, 20000)
    local _, answer = next(all or {})
    if not answer or answer.err then
      fail(method .. ": " .. vim.inspect(answer))
    end
    return answer.result
  end

  local hover = ask("textDocument/hover", 1, 4).contents.value
  if not hover:find("parameters (3*3*3)*4 + 4 = 112", 1, true) then
    fail("another hover: " .. hover)
  end
  local hints = ask("textDocument/inlayHint", 0, 0)
  if #hints ~= 4 or hints[2].label ~= "-> 6x6x4" or
      hints[2].position.character ~= 18 then
    fail("other hints: " .. vim.inspect(hints))
  end

  -- Neovim puts the edits into the buffer by itself.
  vim.api.nvim_buf_set_lines(0, 3, 4, false, { "fc    10" })
  vim.lsp.buf.formatting_sync(nil, 20000)
  local last = vim.api.nvim_buf_get_lines(0, 3, 4, false)[1]
  if last ~= "fc 10" then fail("not formatted: " .. last) end
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.lsp.buf.rename("skip")
  await("renaming", function()
    return vim.api.nvim_buf_get_lines(0, 1, 2, false)[1]:match("^skip: conv")
  end)
  io.stdout:write("neovim: diagnostics, hover, hints, formatting, renaming\n")
  vim.cmd("qall!")
end

local right, why = pcall(run)
if not right then fail(why) end
