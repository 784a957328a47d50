// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes
import Testing

@testable import Systemd

/// Each in a process of its own where the environment is changed: that belongs to everybody.
@Suite("service protocols")
struct ServiceTests {
    @Test("an inherited listening sequenced-packet socket is handed over once")
    func activation() async {
        await #expect(processExitsWith: .success) {
            dup2(ServiceTests.socket(SOCK_SEQPACKET, listening: true), 3)
            ServiceTests.announce("1")
            let sockets = try Activation.sockets()
            #expect(sockets == [3])
            #expect(fcntl(3, F_GETFD) & FD_CLOEXEC != 0)
            let again = try Activation.sockets()
            #expect(again.isEmpty)
        }
    }

    @Test("an inherited descriptor of any other kind is refused")
    func unsuitable() async {
        await #expect(processExitsWith: .success) {
            let others = [
                ServiceTests.socket(SOCK_STREAM, listening: true),
                ServiceTests.socket(SOCK_SEQPACKET, listening: false),
                unsafe open("/dev/null", O_RDONLY),
            ]
            for other in others {
                dup2(other, 3)
                ServiceTests.announce("1")
                #expect(throws: ActivationFault.unsuitable(descriptor: 3)) {
                    try Activation.sockets()
                }
            }
        }
    }

    @Test("a malformed announcement is refused and forgotten")
    func malformed() async {
        await #expect(processExitsWith: .success) {
            ServiceTests.announce("many")
            #expect(throws: ActivationFault.malformed(EINVAL)) { try Activation.sockets() }
            let sockets = try Activation.sockets()
            #expect(sockets.isEmpty)
        }
    }

    @Test("an announcement to another process is not taken")
    func anothers() async {
        await #expect(processExitsWith: .success) {
            ServiceTests.announce("1")
            unsafe setenv("LISTEN_PID", "1", 1)
            let sockets = try Activation.sockets()
            #expect(sockets.isEmpty)
        }
    }

    @Test("readiness reaches the listener, and nothing else otherwise")
    func readiness() async {
        await #expect(processExitsWith: .success) {
            #expect(!Readiness.ready.notify())
            let datagrams = try PrivateThread.run {
                try PrivateThread.cover("/run")
                let listener = try DatagramListener(path: "/run/notify")
                unsafe setenv("NOTIFY_SOCKET", "/run/notify", 1)
                return [Readiness.ready, .status("waiting"), .stopping].map { state in
                    state.notify() ? String(decoding: listener.receive(), as: UTF8.self) : "lost"
                }
            }
            #expect(datagrams == ["READY=1", "STATUS=waiting", "STOPPING=1"])
        }
    }

    @Test("a status cannot begin another field")
    func statusInjection() {
        #expect(Readiness.status("a\nMAINPID=1\r").message == "STATUS=a MAINPID=1 ")
    }

    @Test("that it reloads files is said in systemd's word for it")
    func reloading() {
        #expect(Readiness.reloading.message == "RELOADING=1")
    }

    fileprivate static func announce(_ count: String) {
        unsafe setenv("LISTEN_PID", String(getpid()), 1)
        unsafe setenv("LISTEN_FDS", count, 1)
    }

    fileprivate static func socket(_ kind: __socket_type, listening: Bool) -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(kind.rawValue), 0)
        var address = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: sockaddr().sa_data)
        // The family alone: the kernel chooses an abstract name.
        _ = unsafe bind(descriptor, &address, socklen_t(MemoryLayout<sa_family_t>.size))
        if listening { _ = listen(descriptor, 1) }
        return descriptor
    }
}
