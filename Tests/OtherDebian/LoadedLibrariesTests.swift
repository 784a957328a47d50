// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// The other tests that run there prove something about another Debian's libraries only if they are
/// what this process has loaded.
@Suite(
    "The libraries of another Debian",
    .enabled(if: ExpectedLibrary.all != nil, "these are the machine's own: Tests/OtherDebian/run"))
struct LoadedLibrariesTests {
    @Test("are those that this process has loaded, and not the machine's")
    func loaded() throws {
        let all = try #require(ExpectedLibrary.all)
        #expect(Set(all.map(\.name)) == Set(LoadedLibrary.functions.keys))
        for expected in all {
            let name = try #require(LoadedLibrary.functions[expected.name])
            let library = try #require(LoadedLibrary(having: name), "\(expected.name)")
            // libsqlite3.so.0.8.6
            #expect(library.path.contains("/\(expected.name)"))
            let digest = try Program(Command(["sha256sum", library.path])).expectEnd()
                .output.prefix(64)
            #expect(digest.count == 64 && digest != expected.machineDigest, "\(library.path)")
            if let version = library.version {
                let package = expected.packageVersion
                #expect(package.hasPrefix("\(version)-"), "\(library.path) is \(version)")
            }
        }
    }
}

/// Where the libraries for the TPM are; nil where the machine's are used.
private let directoryOfTPMLibraries = unsafe getenv("TPM2_TSS").map { unsafe String(cString: $0) }

/// The tests that `checks/tpm2-tss-test` runs prove something about another tpm2-tss only if it is what
/// this process has loaded.
@Suite(
    "Another version's libraries for the TPM",
    .enabled(if: directoryOfTPMLibraries != nil, "checks/tpm2-tss-test runs this"))
struct LoadedTPMLibrariesTests {
    @Test(
        "are those that this process has loaded, and not the machine's",
        arguments: [
            "Esys_Initialize", "Tss2_MU_UINT32_Marshal", "Tss2_RC_Decode", "Tss2_Sys_Initialize",
            "Tss2_TctiLdr_Initialize",
        ])
    func loaded(function: String) throws {
        let directory = try #require(directoryOfTPMLibraries)
        let library = try #require(LoadedLibrary(having: function))
        #expect(library.path.hasPrefix(directory + "/"))
    }
}

/// A library that this process has loaded.
private struct LoadedLibrary {
    /// Where it was loaded from.
    let path: String
    /// What it states itself; nil where it states none.
    let version: String?

    /// A function of each that no other library has: the one that states a version, if there is one.
    static let functions = [
        "libcrypto.so.3": "OpenSSL_version",
        "libcurl.so.4": "curl_version",
        "libgnutls.so.30": "gnutls_check_version",
        "libmicrohttpd.so.12": "MHD_get_version",
        "libpam.so.0": "pam_start",
        "libpq.so.5": "PQlibVersion",
        "libsqlite3.so.0": "sqlite3_libversion",
        "libtss2-esys.so.0": "Esys_Initialize",
        "libtss2-mu.so.0": "Tss2_MU_UINT32_Marshal",
    ]

    /// The library of that function; nil where none is loaded.
    init?(having name: String) {
        guard let function = unsafe dlsym(nil, name) else { return nil }
        guard let path = Self.path(of: UInt(bitPattern: function)) else { return nil }
        self.path = path
        version = unsafe Self.version(name, function)
    }

    /// The file that an address of this process is of.
    private static func path(of address: UInt) -> String? {
        guard let bytes = try? Layout.read("/proc/self/maps") else { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            // 7f…000-7f…000 r-xp 00025000 08:01 131 /usr/lib/…
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if bounds.count == 2, bounds[0] <= address, address < bounds[1], words.count == 6 {
                return String(words[5])
            }
        }
        return nil
    }

    private static func version(_ name: String, _ function: UnsafeMutableRawPointer) -> String? {
        typealias Stated = @convention(c) () -> UnsafePointer<CChar>?
        typealias Chosen = @convention(c) (Int32) -> UnsafePointer<CChar>?
        typealias Checked = @convention(c) (UnsafePointer<CChar>?) -> UnsafePointer<CChar>?
        typealias Number = @convention(c) () -> Int32
        switch name {
        case "sqlite3_libversion", "MHD_get_version":
            return unsafe text(unsafeBitCast(function, to: Stated.self)())
        case "curl_version":
            // libcurl/8.14.1 OpenSSL/3.5.9 …
            let stated = unsafe text(unsafeBitCast(function, to: Stated.self)())
            return stated?.split { $0 == "/" || $0 == " " }.dropFirst().first.map { String($0) }
        case "gnutls_check_version":
            return unsafe text(unsafeBitCast(function, to: Checked.self)(nil))
        case "OpenSSL_version":
            // OPENSSL_VERSION_STRING
            return unsafe text(unsafeBitCast(function, to: Chosen.self)(6))
        case "PQlibVersion":
            let number = unsafe unsafeBitCast(function, to: Number.self)()
            return "\(number / 10_000).\(number % 10_000)"
        default: return nil
        }
    }

    private static func text(_ start: UnsafePointer<CChar>?) -> String? {
        unsafe start.map { unsafe String(cString: $0) }
    }
}

/// What `Tests/OtherDebian/run` says about a library of the Debian that it runs tests in.
private struct ExpectedLibrary {
    let name: String
    let packageVersion: String
    /// SHA-256, in hexadecimal digits, of the one of the machine that runs the tests.
    let machineDigest: String

    /// Nil where the tests run on the machine itself.
    static let all: [Self]? = {
        guard let path = unsafe getenv("SIGNET_OTHER_DEBIAN"),
            let bytes = try? Layout.read(unsafe String(cString: path))
        else { return nil }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
                .map { String($0) }
            return Self(name: words[0], packageVersion: words[1], machineDigest: words[2])
        }
    }()
}
