// SPDX-License-Identifier: Apache-2.0
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// What vouches for a change of an account's fingers, beside the rule of the request.
///
/// Without any of it, root has asked for the change, or something that no password stands behind;
/// what outlives only an authorised change then ends by it.
struct ChangeApproval {
    /// The account's password, if it was given to signetd, for sealing the stored login password
    /// again.
    let password: VerifiedPassword?
    /// Evidence that a password authorised this change, for what outlives the change.
    let change: AuthorizedChange?
    /// What the user was told that the change will do; nil if nothing was told, or the first of several
    /// changes has been made.
    var foretold: ChangeForecast?

    /// The approval of a change that only root asks for, or Signet itself.
    static let unvouched = ChangeApproval(nil as VerifiedPassword?)

    /// The approval of a request whose rule demands the password; nil from root, which gives none.
    init(_ password: VerifiedPassword?, foretold: ChangeForecast? = nil) {
        self.password = password
        self.foretold = foretold
        change = password?.change
    }

    /// The approval of a request that polkit has authorised; nil if it asked for no password.
    init(_ change: AuthorizedChange?) {
        password = nil
        self.change = change
    }
}
