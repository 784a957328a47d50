// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// Messages about names in settings that do not exist on this machine.
package enum UnknownNameText {
    /// A list names an account that does not exist.
    package static func unknownAccount(
        _ setting: Bytes, name: Bytes, nearest: Bytes?
    ) -> Text {
        guard let nearest else {
            return "\(setting): there is no account \(name) on this machine"
        }
        return "\(setting): there is no account \(name) on this machine. Did you mean \(nearest)?"
    }
    /// A list does not exclude root; `list` is what to write instead.
    package static func rootAdmitted(_ setting: Bytes, list: Bytes) -> Text {
        "\(setting): the list does not exclude root. Write '\(list)' to exclude it"
    }
    /// A list allows a group to which no account belongs.
    package static func emptyGroup(_ setting: Bytes, name: Bytes) -> Text {
        "\(setting): no account of this machine that could log in belongs to the group \(name)"
    }
    /// A list names a group that does not exist.
    package static func unknownGroup(_ setting: Bytes, name: Bytes, nearest: Bytes?) -> Text {
        guard let nearest else {
            return "\(setting): there is no group \(name) on this machine"
        }
        return "\(setting): there is no group \(name) on this machine. Did you mean \(nearest)?"
    }
    /// A list names a service without a stack.
    package static func unknownService(
        _ setting: Bytes, name: Bytes, nearest: Bytes?
    ) -> Text {
        guard let nearest else {
            return "\(setting): there is no service \(name) in /etc/pam.d"
        }
        return "\(setting): there is no service \(name) in /etc/pam.d. Did you mean \(nearest)?"
    }
    /// A list of units contains an entry that is not a unit.
    package static func notUnit(_ setting: Bytes, name: Bytes, nearest: Bytes?) -> Text {
        guard let nearest else {
            return "\(setting): \(name) is not the name of a service unit"
        }
        return "\(setting): \(name) is not the name of a service unit. Did you mean \(nearest)?"
    }
}
