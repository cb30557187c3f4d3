// server_test.mjs CROZE FOLDER: the server of croze viz answers nothing without its token, to no
// other host, and to no name but its own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";

const [croze, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const server = spawn(croze, ["viz", folder], { stdio: ["ignore", "pipe", "ignore"] });
const address = new URL(await new Promise((done) => server.stdout.once("data", (text) => done(String(text).trim()))));

const ask = (path, { method = "GET", headers = {} } = {}) => new Promise((done, fail) => {
  const r = request({ host: address.hostname, port: address.port, path, method, headers }, (response) => {
    const parts = [];
    response.on("data", (part) => parts.push(part));
    response.on("end", () => done({ status: response.statusCode, body: Buffer.concat(parts).toString(), headers: response.headers }));
  });
  r.on("error", fail);
  r.end();
});
// Whether anybody listens there.
const answers = (host) => new Promise((done) => {
  const socket = connect({ host, port: Number(address.port) });
  const end = (is) => { socket.destroy(); done(is); };
  socket.on("connect", () => end(true));
  socket.on("error", () => end(false));
  socket.setTimeout(2000, () => end(false));
});

try {
  assert.equal(address.hostname, "127.0.0.1");
  assert.match(address.pathname, /^\/[0-9a-f]{32}\/$/, "128 random bits");
  const page = await ask(address.pathname);
  assert.equal(page.status, 200);
  assert.ok(page.body.startsWith("<!doctype html>"));
  assert.equal(page.headers["cache-control"], "no-store");
  assert.equal(page.headers["access-control-allow-origin"], undefined);
  assert.equal((await ask(`${address.pathname}events?from=0`)).status, 200);

  const wrong = address.pathname.replace(/[0-9a-f]/, (c) => c === "0" ? "1" : "0");
  for (const path of ["/", "/events?from=0", "/index.html", "/favicon.ico", address.pathname.slice(0, -2) + "/", wrong, `${wrong}events?from=0`,
                      `${address.pathname}..`, `${address.pathname}../etc/passwd`, `${address.pathname}x`, `/?${address.pathname}`]) {
    const { status, body } = await ask(path);
    assert.equal(status, 404, path);
    assert.equal(body, "", path);
  }
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"]) {
    const { status, body } = await ask(address.pathname, { method });
    assert.ok(status >= 400, method);
    assert.equal(body, "", method);
  }
  for (const host of ["elsewhere.example", `elsewhere.example:${address.port}`, "127.0.0.1.elsewhere.example"]) {
    const { status, body } = await ask(address.pathname, { headers: { Host: host } });
    assert.ok(status >= 400, `Host: ${host}`);
    assert.equal(body, "", `Host: ${host}`);
  }

  assert.ok(await answers("127.0.0.1"));
  for (const list of Object.values(networkInterfaces())) {
    for (const { address: other, internal } of list) {
      if (!internal) assert.equal(await answers(other), false, `${other} is listened at`);
    }
  }
  console.log("ok: the server answers to its address alone");
} finally {
  await new Promise((done) => { server.once("exit", done); server.kill("SIGINT"); });
}
