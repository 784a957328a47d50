// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Posix
import Synchronization
import TestSupport

/// Something in a scene that is not as it should be.
struct DemoFault: Error {
    let expected: String
    let came: String
}

/// One thing that Signet does, shown and checked.
struct DemoScene: Sendable {
    let title: String
    /// What to look at, in a sentence or two.
    let about: String
    let play: @Sendable (DemoSet) throws -> Void
}

/// Signet on a machine of its own, with real sudo, shown to a person scene by scene.
final class Demo: Sendable {
    private let screen: DemoScreen
    private let sets = Mutex<[SignetFixture]>([])
    /// Held by the task that ends the demo, to the end.
    private let ending = Mutex(())

    private init(_ screen: DemoScreen) { self.screen = screen }

    /// Plays all scenes; gives the exit status: 0 if each went as expected.
    static func run() -> Int32 {
        guard geteuid() == 0 else {
            complain(
                """
                the demo needs root, for users, mounts and PAM services of its own: they are \
                private, and gone when it ends. Run 'sudo \(CommandLine.arguments[0]) demo'
                """)
            return 2
        }
        guard let screen = DemoScreen() else {
            complain("the demo cannot open a pipe")
            return 1
        }
        let demo = Demo(screen)
        let watched = demo.watchSignals()
        return withExtendedLifetime(watched) {
            let (status, lastWords) = demo.play()
            return demo.ending.withLock { _ in
                demo.end(saying: lastWords)
                return status
            }
        }
    }

    /// Gives the exit status, and what is to be said at the end.
    private func play() -> (Int32, String) {
        let start = ContinuousClock.now
        screen.say(Self.introduction)
        let makers: TPMAuthority
        let main: DemoSet
        let images: DemoSet
        let vaults: DemoSet
        let elsewhere: DemoSet
        let server: DemoServer
        let ssh: DemoSet
        do {
            makers = try TPMAuthority()
            main = try set([.storage])
            images = try set([.image])
            vaults = try setWithTPM(of: makers, running: true)
            elsewhere = try setWithTPM(of: makers, running: false)
            try main.makePress()
            server = try DemoServer(on: main, trusting: makers)
            ssh = try set([.storage], programs: Built.programs())
            try ssh.prepareSSH()
        } catch {
            return (1, Self.setupText(error))
        }
        let scenes =
            DemoSet.loginScenes.map { ($0, main) } + DemoSet.presenceScenes.map { ($0, main) }
            + DemoSet.keyringScenes.map { ($0, main) }
            + DemoSet.changeScenes.map { ($0, main) }
            + DemoSet.wedgeScenes.map { ($0, main) } + DemoSet.imageScenes.map { ($0, images) }
            + DemoSet.vaultScenes(elsewhere: elsewhere).map { ($0, vaults) }
            + DemoSet.serverScenes(server, laptop: vaults).map { ($0, main) }
            + DemoSet.sshScenes.map { ($0, ssh) }
            + DemoSet.receiptScenes.map { ($0, main) }
        var failed: [Int] = []
        for (index, (scene, set)) in scenes.enumerated() {
            screen.heading(index + 1, scene.title, scene.about)
            if !plays(scene, set) { failed.append(index + 1) }
        }
        return summary(scenes.count, failed, ContinuousClock.now - start)
    }

    private func plays(_ scene: DemoScene, _ set: DemoSet) -> Bool {
        do {
            try scene.play(set)
            return true
        } catch let fault as DemoFault {
            screen.contradict(fault)
        } catch TestFault.deadline(let awaited, let came), TestFault.closed(let awaited, let came) {
            screen.contradict(DemoFault(expected: awaited, came: came))
        } catch {
            screen.contradict(DemoFault(expected: "no fault", came: "\(error)"))
        }
        return false
    }

    private func summary(_ count: Int, _ failed: [Int], _ time: Duration) -> (Int32, String) {
        let seconds = Int((time / .seconds(1)).rounded())
        guard failed.isEmpty else {
            let numbers = failed.map(String.init).joined(separator: ", ")
            return (1, "\(count) scenes, \(failed.count) not as expected: \(numbers)")
        }
        return (0, "\(count) scenes, all as expected, in \(seconds) s. \(Self.farewell)")
    }

    private func setWithTPM(of maker: TPMAuthority, running: Bool) throws -> DemoSet {
        let set = try set([.text], running: false)
        try set.addTPM(of: maker)
        if running { try set.signet.start() }
        return set
    }

    private func set(
        _ kinds: [SignetFixture.ReaderKind], running: Bool = true, programs: String? = nil
    ) throws -> DemoSet {
        let signet = try SignetFixture(readers: kinds, running: running, programs: programs)
        sets.withLock { $0.append(signet) }
        try signet.host.install(Built.program("signet"), at: "/usr/local/bin/signet")
        return DemoSet(signet: signet, screen: screen)
    }

    // MARK: The end

    private func end(saying lastWords: String) {
        screen.close(saying: "\n\(lastWords)")
        for set in sets.withLock({ $0 }) { set.end() }
    }

    /// Whoever stops the demo leaves nothing behind. If it is killed, the kernel sees to that.
    private func watchSignals() -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // Whatever a scene holds just now: what cannot be ended in order goes with us.
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(20)) {
                    _exit(128 + number)
                }
                ending.withLock { _ in
                    end(saying: "stopped. \(Self.farewell)")
                    exit(128 + number)
                }
            }
            source.resume()
            return source
        }
    }

    private static let introduction = """
        Signet: fingerprint login that can be verified.

        Everything below really happens: real sudo, the real PAM module and the real
        daemon, on a machine of its own inside private namespaces, with the users
        alice and bob. Only the fingerprint reader is a virtual one, of libfprint.
        This machine's users, its /etc and its passwords stay as they are.

          |     a terminal, as it is
          >     what somebody does
          [ok]  what was checked
        """
    private static let farewell = "Nothing is left behind."

    private static func setupText(_ error: any Error) -> String {
        guard case TestFault.noFixture(let text) = error else {
            return "the demo could not be set up: \(error)"
        }
        return """
            the demo could not make a machine of its own: \(text)
            Root must be allowed to make mounts: start a container with '--privileged'.
            """
    }
}
