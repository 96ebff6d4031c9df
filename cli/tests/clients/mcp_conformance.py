#!/usr/bin/env python3
"""The protocol's conformance suite (npm @modelcontextprotocol/conformance 0.1.16) against `trace mcp` over HTTP.

    mcp_conformance.py --trace TRACE --modules NODE_MODULES --node NODE

The suite sends no token, so it talks to a proxy that adds it. Half of the suite's scenarios call tools, read resources and get prompts
that only a server made for the suite has; `mcp_conformance.yml` lists them. The suite fails if any other scenario fails, and if one
of those passes.
"""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

TOKEN = "a-token-of-the-test"
HERE = os.path.dirname(os.path.abspath(__file__))


def pipe(source, target):
    """Copies bytes until the source ends."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end, how in [(target, socket.SHUT_WR), (source, socket.SHUT_RD)]:
        try:
            end.shutdown(how)
        except OSError:
            pass


def forward(client, port, own_port):
    """Passes one request to the server, with the token, and its response back."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return client.close()
        head += data
    head, _, body = head.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    # The proxy stands for the server, so its name in a request is the server's. Another name stays.
    own, server_name = b":%d" % own_port, b":%d" % port
    lines = [line.replace(own, server_name) if re.match(rb"(?i)(host|origin):", line) else line for line in lines]
    lines += [b"Authorization: Bearer " + TOKEN.encode(), b"Connection: close"]
    server = socket.create_connection(("127.0.0.1", port))
    server.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
    threading.Thread(target=pipe, args=(client, server), daemon=True).start()
    pipe(server, client)
    client.close()
    server.close()


def proxy(port):
    """Starts the proxy, and returns its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    own_port = listener.getsockname()[1]

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=forward, args=(client, port, own_port), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return own_port


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--node", required=True)
    arguments = parser.parse_args()
    place = tempfile.mkdtemp(prefix="trace-conformance-")
    arguments.trace = os.path.abspath(arguments.trace)
    token = os.path.join(place, "token")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(TOKEN)
    environment = {"HOME": place, "XDG_CACHE_HOME": os.path.join(place, "cache"), "PATH": os.environ["PATH"]}
    server = subprocess.Popen(
        [arguments.trace, "mcp", "--home", place, "--listen", "http://127.0.0.1:0/mcp", "--token-file", token],
        env=environment, cwd=place, stderr=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/", server.stderr.readline())[1])
        suite = os.path.join(arguments.modules, "@modelcontextprotocol/conformance/dist/index.js")
        done = subprocess.run(
            [arguments.node, suite, "server", "--url", "http://127.0.0.1:%d/mcp" % proxy(port), "--suite", "all",
             "--expected-failures", os.path.join(HERE, "mcp_conformance.yml"), "--output-dir", os.path.join(place, "results")],
            env=environment, cwd=place, capture_output=True, text=True, timeout=120)
    finally:
        server.terminate()
        server.wait(10)
    text = done.stdout + done.stderr
    passed = re.findall(r"(?m)^✓ ([a-z0-9-]+): ([1-9]\d*) passed, 0 failed", text)
    if done.returncode != 0 or not passed:
        sys.exit(text)
    print("%d scenarios pass: %s" % (len(passed), ", ".join(name for name, _ in passed)))
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
