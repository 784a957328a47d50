// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats

extension SSHDenialReason {
    /// What happened, why, and what to do now, for the person who uses an ssh key.
    ///
    /// - Parameter subject: the key's name; nil or empty if the denial does not say it.
    package func text(subject: Bytes?) -> Text {
        let name = subject ?? []
        switch self {
        case .handleMalformed:
            return """
                the key's file is damaged, or not one of Signet. Make a new key with 'signet ssh new'
                """
        case .otherMachine:
            return """
                the ssh key is on another machine, or that machine's state was deleted. Use a key of \
                this machine
                """
        case .otherAccount: return "the ssh key belongs to another account of this machine"
        case .unknownKey where name.isEmpty:
            return "the ssh key does not exist any more. See 'signet ssh list'"
        case .unknownKey: return "there is no ssh key \(name). See 'signet ssh list'"
        case .keyInvalidated:
            return """
                the fingers have changed since the ssh key \(name) was made, so it is destroyed. Run \
                'signet ssh remove \(name)', then 'signet ssh new', and give the new public key to \
                your servers
                """
        case .nameTaken:
            return """
                the ssh key \(name) exists already. Choose another name, or run 'signet ssh remove \
                \(name)'
                """
        case .tooManyKeys:
            return "no more ssh keys can be made. Remove one with 'signet ssh remove NAME'"
        case .dataRefused:
            return """
                an ssh key signs only logins at ssh servers and ssh signatures of files, and this is \
                neither
                """
        case .otherKey: return "the login to be signed is one with another key"
        case .applicationRefused:
            return """
                the key's application is not one of ssh, or not the one that the key was made for
                """
        }
    }
}
