import CLinux

/// Runs what starts threads that need not keep time: each may sleep an hour longer than it asked.
///
/// A thread inherits its creator's timer slack. What it waits for by descriptor wakes it at once, and
/// so do timers of the kernel's own (timerfd). Source: prctl(2), PR_SET_TIMERSLACK.
package func startingDrowsyThreads<Result>(_ body: () -> Result) -> Result {
    let slack = get_timer_slack()
    // Without it the threads wake up as they ask for, which costs a little power and nothing else.
    guard slack > 0, set_timer_slack(3_600_000_000_000) == 0 else { return body() }
    defer { _ = set_timer_slack(UInt(slack)) }
    return body()
}
