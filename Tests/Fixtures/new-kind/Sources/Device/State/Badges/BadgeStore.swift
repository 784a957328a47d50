// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing

/// An account's badges, each of which counts for the fingers that it was given to.
package struct BadgeStore: Sendable {
    let account: AccountState

    /// A badge as it is stored.
    package struct Badge: Sendable {
        package let name: String
        /// The digest of the fingers, 32 bytes.
        package let fingers: [UInt8]
    }

    package func give(_ name: String, to fingers: EnrolmentState) throws(StoreFault) {
        try files { () throws(FileFault) in
            try account.directory.makeDirectory("badges", mode: 0o700)
                .replace(name, bytes: fingers.digest)
        }
    }

    package func list() throws(StoreFault) -> [Badge] {
        try files { () throws(FileFault) in
            guard try account.directory.contains("badges") else { return [] }
            let badges = try account.directory.directory("badges")
            var found: [Badge] = []
            for name in try badges.list() {
                found.append(Badge(name: name, fingers: try badges.read(name, cap: 32) ?? []))
            }
            return found
        }
    }

    package func remove(_ badge: Badge) throws(StoreFault) {
        try files { () throws(FileFault) in
            try account.directory.directory("badges").remove(badge.name)
        }
    }
}

extension AccountState {
    package var badges: BadgeStore { BadgeStore(account: self) }
}
