#!/usr/bin/python3
"""terminal.py [--pause] COMMAND...: runs it with a terminal as standard error,
and writes what that was sent to standard output; exits as it does. With
--pause it is stopped for a second and a half when it has begun, so that it
lasts on any machine."""
import os
import signal
import subprocess
import sys
import time

pause = sys.argv[1] == "--pause"
leader, follower = os.openpty()
child = subprocess.Popen(sys.argv[1 + pause:], stderr=follower,
                         stdout=subprocess.DEVNULL)
os.close(follower)
if pause:
    time.sleep(0.3)
    child.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    child.send_signal(signal.SIGCONT)
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
