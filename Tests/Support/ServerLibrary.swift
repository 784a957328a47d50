// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The libmicrohttpd that `checks/libmicrohttpd-test` has the tests and their servers load; otherwise
/// they load the machine's.
package enum ServerLibrary {
    /// Where it is; nil for the machine's.
    package static let directory = value("MICROHTTPD")

    /// What a server needs in its environment to load it too, with the sanitizers.
    package static let environment: [String: String] = {
        guard directory != nil else { return [:] }
        let names = ["LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS"]
        return names.reduce(into: [:]) { all, name in all[name] = value(name) }
    }()

    private static func value(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
