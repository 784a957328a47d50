// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes

/// Accounts and a PAM service that only the test's own thread, and what it starts, can see.
enum AccountFiles {
    static let password = "right pass"
    static let withNewlines = "line\nbreak\n"
    static let plain = "auth required pam_unix.so nodelay\naccount required pam_unix.so\n"

    private static let hash =
        "$6$rounds=1000$abcdefgh$Oj.bYCSA2DOTWx.Wggb/kcYW63yzHCkQadAqn2pCsGWEmFelBnMQMo8uHt4YkJKT"
        + "PqOpK7fv2naBmf0btjeev1"
    private static let newlineHash =
        "$6$rounds=1000$abcdefgh$nfZJygrvimohPjhVOfU8efdpcnIEa0NRk29Q2S37mxiOYwRrTDoQgjZUy1rMARrw"
        + "QLof7wxHQHg6gC7AHA.hf1"

    /// Name, hash and the three fields after it: last change, expiry of password and account.
    private static let accounts: [(name: String, hash: String, change: String, expiry: String)] = [
        ("root", "*", "20000", ""), ("alice", hash, "20000", ""), ("mallory", hash, "20000", ""),
        ("lines", newlineHash, "20000", ""), ("locked", "!" + hash, "20000", ""),
        ("starless", "*", "20000", ""), ("blank", "", "20000", ""), ("expired", hash, "20000", "1"),
        ("mustchange", hash, "0", ""),
    ]

    /// Shows them, with `stack` as the service, or without a service at all.
    static func show(stack: String?, mode: mode_t = 0o644, owner: uid_t = 0) throws {
        try PrivateThread.cover("/media")
        for directory in ["/media/pam.d", "/media/log"] { unsafe mkdir(directory, 0o755) }
        let users = accounts.enumerated().map { index, account in
            "\(account.name):x:\(index == 0 ? 0 : 4000 + index):0::/nonexistent:/bin/sh\n"
        }
        let shadows = accounts.map {
            "\($0.name):\($0.hash):\($0.change):0:99999:7::\($0.expiry):\n"
        }
        try PrivateThread.write(users.joined(), to: "/media/passwd")
        try PrivateThread.write(shadows.joined(), to: "/media/shadow", mode: 0o640)
        // As permissive as a machine's fallback can be: it must never come to that.
        try PrivateThread.write(
            "auth required pam_permit.so\naccount required pam_permit.so\n",
            to: "/media/pam.d/other")
        if let stack {
            try PrivateThread.write(stack, to: "/media/pam.d/signet")
            unsafe chmod("/media/pam.d/signet", mode)
            unsafe chown("/media/pam.d/signet", owner, 0)
        }
        for name in ["passwd", "shadow", "pam.d"] {
            try PrivateThread.show("/media/" + name, at: "/etc/" + name)
        }
    }
}
