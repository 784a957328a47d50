// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Loop
import Posix
import SignedFormats

/// The access tokens that lie in files for the sessions that PAM opens.
///
/// A fault here ends no login: the token is no part of the proof.
@ServiceActor
final class SessionTokens {
    let journal: DecisionJournal
    let tokenFiles: TokenFiles
    let accounts: Accounts

    init(
        journal: DecisionJournal, tokenFiles: TokenFiles, accounts: Accounts
    ) {
        self.journal = journal
        self.tokenFiles = tokenFiles
        self.accounts = accounts
    }
}

extension SessionTokens {
    /// Removes tokens that have ended while no daemon ran.
    func tidyTokens() {
        do throws(FileFault) {
            try tokenFiles.sweep(at: accounts.instant.seconds)
        } catch { journal.fault("tokens of sessions: \(error)") }
    }

    /// Removes the token of an account whose login at a server, or at any, is good for nothing any
    /// more.
    func forgetToken(of account: Account, from server: Bytes? = nil) {
        do throws(FileFault) {
            try tokenFiles.remove(of: account.uid, from: server)
        } catch { journal.fault("a token stays: \(error)", account: account.name) }
    }

    /// Puts a token where the sessions of an account find it; whether it lies there.
    ///
    /// A login does not fail by it: the token is no part of the proof.
    func keepToken(_ tokens: RelayTokens, from server: Bytes, for account: Account) -> Bool {
        do throws(FileFault) {
            try tokenFiles.keep(
                tokens.accessToken, of: account.uid, from: server, forSeconds: tokens.seconds,
                at: accounts.instant.seconds)
            return true
        } catch {
            journal.fault("no token for the session: \(error)", account: account.name)
            return false
        }
    }
}
