// SPDX-License-Identifier: Apache-2.0
/// What the module's file says of itself: `signet doctor` reads it there, without loading it.
enum Release {
    /// A mark to look for, and the version; the same as the other programs' (Policy/Version.swift).
    static let mark: StaticString = "signet-module 0.2.0"
}
