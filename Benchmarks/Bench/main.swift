import Glibc

do {
    let mocksPolkit = CommandLine.arguments.contains("--mock-polkit")
    try Bench(mocksPolkit: mocksPolkit).run()
} catch {
    print("bench: \(error)")
    exit(1)
}
