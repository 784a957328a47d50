do {
    try Bench(mocksPolkit: CommandLine.arguments.contains("--mock-polkit")).run()
} catch {
    print("bench: \(error)")
    throw error
}
