import CFprint
import Loop
import Wire

/// A print in a reader's own storage; another system may have put it there.
package struct StoredPrint: Sendable {
    /// The finger, where the reader knows it.
    package let finger: Finger?
    /// The account it was enrolled for, where the reader knows it.
    package let account: String?

    let print: Print

    @ReaderActor
    init(_ print: Print) {
        self.print = print
        let code = unsafe fp_print_get_finger(print.pointer).rawValue
        finger = UInt8(exactly: code).flatMap { Finger(rawValue: $0) }
        account = unsafe fp_print_get_username(print.pointer).map { unsafe String(cString: $0) }
    }

    /// Whether this is the print that the template names (`fp_print_equal`).
    @ReaderActor
    package func isSame(as template: Template) -> Bool {
        guard let other = try? Print(template) else { return false }
        return unsafe fp_print_equal(print.pointer, other.pointer) != 0
    }
}
