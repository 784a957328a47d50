// SPDX-License-Identifier: Apache-2.0

/// The beginning of Python programs that speak the agent's protocol as no honest client does.
enum SSHAgentScript {
    /// Needs `hostkey`, an Ed25519 key in the working directory, and `.ssh/plain.pub`.
    ///
    /// `signed` has that host sign a session: its id are SSHSIG data, as ssh-keygen signs no others.
    static let preamble = """
        import base64, hashlib, os, socket, subprocess, sys, threading
        def st(b): return len(b).to_bytes(4, 'big') + b
        def receive(s):
            h = s.recv(4)
            if len(h) < 4: return b''
            n = int.from_bytes(h, 'big'); a = b''
            while len(a) < n: a += s.recv(n - len(a))
            return a
        class Agent:
            def __init__(self):
                self.s = socket.socket(socket.AF_UNIX)
                self.s.connect(os.environ['SSH_AUTH_SOCK'])
            def send(self, m): self.s.sendall(len(m).to_bytes(4, 'big') + m)
            def ask(self, m):
                self.send(m)
                return receive(self.s)
            def bind(self, sid, sig, forwarding):
                return self.ask(b'\\x1b' + st(b'session-bind@openssh.com') + st(host) + st(sid)
                    + st(sig) + bytes([forwarding]))[0]
            def signing(self, data): return b'\\x0d' + st(blob) + st(data) + bytes(4)
            def sign(self, sid): return self.ask(self.signing(request(sid)))[0]
            def keys(self): return int.from_bytes(self.ask(b'\\x0b')[1:5], 'big')
        host = base64.b64decode(open('hostkey.pub').read().split()[1])
        blob = base64.b64decode(open('.ssh/plain.pub').read().split()[1])
        def request(sid):
            return (st(sid) + b'\\x32' + st(b'alice') + st(b'ssh-connection')
                + st(b'publickey-hostbound-v00@openssh.com') + b'\\x01'
                + st(b'ecdsa-sha2-nistp256') + st(blob) + st(host))
        def plain(sid):
            return (st(sid) + b'\\x32' + st(b'alice') + st(b'ssh-connection') + st(b'publickey')
                + b'\\x01' + st(b'ecdsa-sha2-nistp256') + st(blob))
        def signed(n):
            open('m', 'wb').write(bytes([n]))
            if os.path.exists('m.sig'): os.remove('m.sig')
            subprocess.run(['ssh-keygen', '-q', '-Y', 'sign', '-f', 'hostkey', '-n', 'xxxx', '-O',
                'hashalg=sha256', 'm'], check=True, capture_output=True)
            sid = b'SSHSIG' + st(b'xxxx') + st(b'') + st(b'sha256') + st(hashlib.sha256(bytes([n])).digest())
            raw = base64.b64decode(''.join(open('m.sig').read().split('\\n')[1:-2]))
            return sid, raw[-83:]

        """
}
