// SPDX-License-Identifier: Apache-2.0
import Glibc

// bench [--mock-polkit] [--sizes N,N…] [--connections N] [SECTION…]: measures what is named, or
// everything.
do {
    var words = Array(CommandLine.arguments.dropFirst())
    if words.first == Population.word {
        try Population.add(words.dropFirst())
        exit(0)
    }
    if words.first == ServerWorker.word {
        try ServerWorker.run(words.dropFirst())
        exit(0)
    }
    let scale = try ScaleSection.Scale(taking: &words)
    let mocksPolkit = words.contains("--mock-polkit")
    words.removeAll { $0 == "--mock-polkit" }
    let sections = words.compactMap(Section.init(rawValue:))
    guard sections.count == words.count else {
        print("bench: sections are \(Section.allCases.map(\.rawValue).joined(separator: ", "))")
        exit(2)
    }
    let workshop = try Workshop()
    for section in sections.isEmpty ? Section.whole : sections {
        try section.run(in: workshop, mocksPolkit: mocksPolkit, scale: scale)
    }
} catch {
    print("bench: \(error)")
    exit(1)
}
