import TestSupport

extension DemoSet {
    /// A server as relying party; `laptop` is the machine that takes the place of alice's first.
    static func serverScenes(_ server: DemoServer, laptop: DemoSet) -> [DemoScene] {
        [
            DemoScene(
                title: "A server of one's own",
                about: "signet-server issues challenges and checks what touches have signed. It "
                    + "sees no finger and no private key.",
                play: { try begin($0, server) }),
            DemoScene(
                title: "alice registers her machine",
                about: "With a code, her password and a touch. A new key is made for this server "
                    + "alone, sealed to her fingers; the server gets the public half.",
                play: { try register($0, server) }),
            DemoScene(
                title: "A touch logs in to the server",
                about: "The server sends a challenge, the touch signs it, the server checks the "
                    + "signature and gives a token. A stranger's finger signs nothing.",
                play: { try logIn($0, server) }),
            DemoScene(
                title: "A new laptop takes the old one's place",
                about: "This application lets an account have one device. When the old one hears "
                    + "that it was replaced, it destroys its key.",
                play: { try replace($0, server, laptop) }),
        ]
    }

    private static func begin(_ set: DemoSet, _ server: DemoServer) throws {
        set.screen.act("root starts signet-server")
        try server.start()
        try server.startRelay(on: set)
        try server.admin(
            "application", "add", "shop", "--devices", "one",
            meaning: "'shop' may have its people log in here")
    }

    private static func register(_ set: DemoSet, _ server: DemoServer) throws {
        let code = try server.code()
        let terminal = try set.enable(server, code)
        try set.see("touch the reader to register this device", on: terminal)
        try set.touch(.aliceRight)
        try set.see("this device is registered at \(server.url) as alice, for shop", on: terminal)
        try set.end(terminal, "the device is registered")
        let again = try set.enable(server, code)
        try set.see("is registered at \(server.url) already", on: again)
        try set.check("the same code again registers nothing", try again.expectEnd() != .exited(0))
    }

    private static func logIn(_ set: DemoSet, _ server: DemoServer) throws {
        let terminal = try set.alice("signet", "login", server.url)
        try set.see("touch the reader to log in to \(server.url) as alice", on: terminal)
        try set.touch(.stranger)
        try set.see("the finger did not match", on: terminal)
        try set.see("touch the reader to log in to \(server.url) as alice", on: terminal)
        try set.touch(.aliceLeft)
        try set.end(terminal, "alice has a token")
        let token = terminal.transcript.split(whereSeparator: \.isNewline).last ?? ""
        try set.check(
            "it is a JSON Web Token, in three parts",
            token.hasPrefix("eyJ") && token.split(separator: ".").count == 3,
            came: terminal.transcript)
        let audit = try server.admin(
            "audit", "--event", "login", meaning: "the server has it in its audit trail")
        try set.check(
            "one login, of alice at shop",
            audit.split(whereSeparator: \.isNewline).count { $0.contains(" ok ") } == 1,
            came: audit)
    }

    private static func replace(_ set: DemoSet, _ server: DemoServer, _ laptop: DemoSet) throws {
        let code = try server.code()
        laptop.screen.act("alice sits down at her new laptop, the one with a TPM")
        try server.startRelay(on: laptop)
        let new = try laptop.enable(server, code)
        try laptop.see("touch the reader to register this device", on: new)
        try laptop.swipe(.aliceRight, "alice swipes her right index finger")
        try laptop.see("this device is registered", on: new)
        try laptop.end(new, "the new laptop is registered, with a key in its TPM")

        set.screen.act("alice logs in at the old machine, which has not heard of it")
        let old = try set.alice("signet", "login", server.url)
        try set.see("touch the reader to log in", on: old)
        try set.touch(.aliceRight)
        try set.see("another device was registered at", on: old)
        try set.check("nobody is logged in", try old.expectEnd() != .exited(0))
        let list = try set.alice("signet", "login")
        try set.see("alice is registered at no server", on: list)
        try set.end(list, "the old machine has destroyed its key")
    }

    /// alice begins to register a machine, with her password.
    private func enable(_ server: DemoServer, _ code: String) throws -> Terminal {
        let terminal = try alice("signet", "enable", "--server", server.url)
        try see("Activation code for \(server.url): ", on: terminal)
        screen.act("alice types the code")
        try terminal.sendLine(code)
        try see("Password of alice: ", on: terminal)
        try typePassword(terminal)
        return terminal
    }
}
