// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Posix
import ReaderProcess

// The reader process on libfprint's virtual readers: `--text`, `--storage`, `--storage-no-list` and
// `--image` name their sockets, `--idle` the milliseconds after which it ends. Never installed: the
// installed one clears the variables that switch virtual readers on.
let variables = [
    "--text": "FP_VIRTUAL_DEVICE", "--storage": "FP_VIRTUAL_DEVICE_STORAGE",
    "--storage-no-list": "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST", "--image": "FP_VIRTUAL_IMAGE",
]
let arguments = Array(CommandLine.arguments.dropFirst())
var idle = ReaderProgram.idle
for (option, value) in zip(arguments, arguments.dropFirst()) {
    if option == "--idle", let number = Int(value) { idle = .milliseconds(number) }
    guard let variable = variables[option] else { continue }
    unsafe setenv(variable, value, 1)
    // A reader keeps its prints also while no process runs.
    if option.hasPrefix("--storage") { unsafe keep_virtual_storage(value + ".prints") }
}
hurry_virtual_readers(1)
replug_virtual_readers()
exit(ReaderProgram.run(idle: idle))
