// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import SignedFormats

/// The access tokens that servers issue for sessions, stored where PAM sessions pick them up.
///
/// An account has at most one. A failure to store or delete a token is logged and never ends a
/// login, since the token is no part of the proof.
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
    /// Deletes tokens that expired while no daemon was running.
    func tidyTokens() {
        do throws(FileFault) {
            try tokenFiles.sweep(at: accounts.instant.seconds)
        } catch { journal.fault("expired session tokens could not be deleted: \(error)") }
    }

    /// Deletes an account's token early, because the login at the server is no longer valid.
    ///
    /// - Parameter server: delete only a token of this server; nil for any.
    func forgetToken(of account: Account, from server: ServerURL? = nil) {
        do throws(FileFault) {
            try tokenFiles.remove(of: account.uid, from: server)
        } catch {
            journal.fault("a session token could not be deleted: \(error)", account: account.name)
        }
    }

    /// Stores the token of a login at a server, in place of an older one of the account.
    ///
    /// It is deleted when it expires, after `tokens.seconds`. Returns false, and logs why, if it
    /// could not be stored.
    func keepToken(_ tokens: RelayTokens, from server: ServerURL, for account: Account) -> Bool {
        do throws(FileFault) {
            try tokenFiles.keep(
                tokens.accessToken, of: account.uid, from: server, forSeconds: tokens.seconds,
                at: accounts.instant.seconds)
            return true
        } catch {
            journal.fault("the session token could not be stored: \(error)", account: account.name)
            return false
        }
    }
}
