// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package of its own, so that nothing that is installed or tested is built with the fuzzer in it.
// `Sources` is the real one, by a symbolic link: `package` declarations can be reached from here.

/// As in ../../Package.swift, and with what `@testable` needs.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags([
        "-enable-testing", "-Xllvm", "-sil-disable-pass=dead-store-elimination",
    ]),
]

let package = Package(
    name: "fuzz",
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CGLib", pkgConfig: "gio-unix-2.0"),
        .systemLibrary(name: "CFprint", pkgConfig: "libfprint-2 gio-unix-2.0 gusb"),
        .systemLibrary(name: "CTSS", pkgConfig: "tss2-esys tss2-sys tss2-tctildr tss2-mu tss2-rc"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq"),
        .target(name: "Wire", swiftSettings: common),
        .target(name: "Statement", swiftSettings: common),
        .target(name: "Texts", dependencies: ["Statement", "Wire"], swiftSettings: common),
        .target(name: "Policy", dependencies: ["Statement", "Wire"], swiftSettings: common),
        .target(name: "ModuleOptions", dependencies: ["Statement", "Wire"], swiftSettings: common),
        .target(name: "Posix", dependencies: ["CLinux"], swiftSettings: common),
        .target(
            name: "Crypto", dependencies: ["COpenSSL", "Posix", "Statement"], swiftSettings: common),
        .target(name: "Loop", dependencies: ["CGLib", "Posix"], swiftSettings: common),
        .target(name: "Bus", dependencies: ["CGLib", "Loop", "Posix"], swiftSettings: common),
        .target(name: "ReaderProtocol", dependencies: ["CGLib", "Wire"], swiftSettings: common),
        .target(
            name: "Reader", dependencies: ["CFprint", "Loop", "Posix", "ReaderProtocol", "Wire"],
            swiftSettings: common),
        .target(name: "TPM", dependencies: ["CTSS", "Crypto", "Posix"], swiftSettings: common),
        .target(
            name: "Vault", dependencies: ["Crypto", "Posix", "Statement", "TPM"],
            swiftSettings: common),
        .target(
            name: "Store",
            dependencies: ["Crypto", "Policy", "Posix", "Statement", "Vault", "Wire"],
            swiftSettings: common),
        .target(
            name: "CatalogueFiles", dependencies: ["Posix", "Texts", "Wire"],
            swiftSettings: common),
        .target(
            name: "ConfigurationFiles", dependencies: ["Policy", "Posix"], swiftSettings: common),
        .target(
            name: "Doctor",
            dependencies: [
                "ConfigurationFiles", "ModuleOptions", "Policy", "Posix", "Statement", "Texts",
                "Wire",
            ], swiftSettings: common),
        .target(
            name: "Control",
            dependencies: [
                "CatalogueFiles", "ConfigurationFiles", "Crypto", "Doctor", "Policy", "Posix",
                "Statement", "Texts", "Wire",
            ],
            swiftSettings: common),
        .target(name: "Systemd", dependencies: ["CSystemd", "Posix"], swiftSettings: common),
        .target(
            name: "HTTP", dependencies: ["CGnuTLS", "CMicrohttpd", "Posix"], swiftSettings: common),
        .target(
            name: "Database", dependencies: ["CPostgreSQL", "CSQLite", "Posix"],
            swiftSettings: common),
        .target(
            name: "Server",
            dependencies: [
                "ConfigurationFiles", "Crypto", "Database", "HTTP", "Policy", "Posix",
                "Statement", "Systemd",
            ], swiftSettings: common),
        .executableTarget(
            name: "harnesses",
            dependencies: [
                "Bus", "CGLib", "Control", "Crypto", "Doctor", "HTTP", "Loop", "ModuleOptions",
                "Policy",
                "Reader", "ReaderProtocol", "Server", "Statement", "Store", "TPM", "Texts", "Vault",
                "Wire",
            ],
            path: "Harnesses",
            swiftSettings: common + [.unsafeFlags(["-parse-as-library"])]),
    ]
)
