#!/usr/bin/python3
"""terminal.py COMMAND...: runs it with a terminal as standard error, and writes
what that was sent to standard output; exits as it does."""
import os
import subprocess
import sys

leader, follower = os.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=follower,
                         stdout=subprocess.DEVNULL)
os.close(follower)
sent = b""
while True:
    try:
        piece = os.read(leader, 4096)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    sent += piece
sys.stdout.buffer.write(sent)
sys.exit(child.wait())
