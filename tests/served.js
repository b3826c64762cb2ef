// A folder on a server of its own: serve(folder) gives its address, the paths
// that were asked for, and close().
const fs = require("fs");
const http = require("http");
const path = require("path");

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css" };

exports.serve = async (folder) => {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    response.setHeader("Content-Type", TYPES[request.url.split(".").pop()] ||
      "application/octet-stream");
    fs.createReadStream(path.join(folder, request.url))
      .on("error", () => response.end()).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { asked, address: `http://127.0.0.1:${server.address().port}`,
    close: () => server.close() };
};
