import Glibc

/// Ends the process at once, whatever its threads do: no handler runs. _exit(2)
package func endProcess(_ status: Int32) -> Never { _exit(status) }
