// SPDX-License-Identifier: Apache-2.0
import Authorization
import Domain
import LoginProtocol
import SignedFormats
import State

/// A login that a server has to approve, as prepared before the touch.
struct LoginAtServer {
    /// Whether the server is asked for this login.
    enum Mode {
        /// The server gave this challenge, at this time since boot.
        case online(challenge: Challenge, at: Duration)
        /// The server cannot be reached, and its cached approval is used instead.
        case offline
    }

    let url: CanonicalServerURL
    let key: ServerKey
    let serverRequest: ServerLoginRequest
    let mode: Mode

    /// How long the server's answer after the touch may take, including the wait for the key.
    ///
    /// The time for the touch is shortened by it, so that the module does not give up first.
    private static let answerTime = Duration.seconds(12)

    /// How long to wait for a finger if the module waits for `whole` in total.
    func touchTime(of whole: Duration) -> Duration {
        switch mode {
        case .online: whole - min(Self.answerTime, whole / 2)
        case .offline: whole
        }
    }

    /// What the local statement says about the server.
    var lines: ServerLines {
        let mode: ServerMode =
            switch self.mode {
            case .online: .online
            case .offline: .offline
            }
        return ServerLines(url: ServerURL(url), account: key.account, mode: mode)
    }
}

/// A server's proof for the module, and whether the daemon holds it for a valid approval.
struct ServerReply {
    let proof: ServerProof
    let isYes: Bool
}
