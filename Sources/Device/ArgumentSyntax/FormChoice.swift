// SPDX-License-Identifier: Apache-2.0

// Decides which form of a command was called, before anything is done. An option that belongs to a
// form selects it, otherwise the first word does, otherwise the plain form is meant. Every operand
// and option must belong to the chosen form, and whatever that form requires must be there;
// anything else is a `UsageFault`.
extension CommandSyntax {
    /// Throws unless the operands and the options, given by their names, fit one of the forms.
    func check(
        _ operands: [String], given: Set<String>, call: String
    ) throws(UsageFault) {
        let choice = FormChoice(command: self, operands: operands, given: given, call: call)
        try choice.check()
    }
}

/// Determines the form of a command line, and checks that everything in it belongs to that form.
private struct FormChoice {
    let command: CommandSyntax
    let operands: [String]
    let given: Set<String>
    let call: String

    private var title: String { command.name.isEmpty ? call : command.name }

    func check() throws(UsageFault) {
        let form = try form()
        try checkOptions(of: form)
        try checkOperands(of: form)
    }

    /// Returns the form that an option selects, otherwise the first word, otherwise the plain one.
    private func form() throws(UsageFault) -> FormSyntax {
        let selected = command.forms.filter { form in
            form.selector.map { given.contains($0.name) } ?? false
        }
        guard selected.count < 2 else {
            throw .either(selected[0].label, selected[1].label, of: title)
        }
        if let form = selected.first { return form }
        if let form = command.forms.first(where: { $0.word != nil && $0.word == operands.first }) {
            return form
        }
        if let form = command.forms.first(where: { $0.word == nil && $0.required.isEmpty }) {
            return form
        }
        // A fault about an option that belongs to one form is clearer than one that lists the
        // forms.
        for form in command.forms { try checkStrayOptions(of: form, within: []) }
        throw misfit(of: nil) ?? choice
            ?? .missingOperand(
                command.forms.map(\.label).joined(separator: ", "), of: title, call: call)
    }

    private func checkOptions(of form: FormSyntax) throws(UsageFault) {
        for other in command.forms { try checkStrayOptions(of: other, within: [form]) }
        for option in form.required where !given.contains(option.name) {
            throw .needs(form.label, option.long)
        }
    }

    /// Throws if an option of `other` was given that none of `forms` takes.
    private func checkStrayOptions(
        of other: FormSyntax, within forms: [FormSyntax]
    ) throws(UsageFault) {
        for option in other.required + other.options where given.contains(option.name) {
            guard !forms.contains(where: { $0.takes(option.name) }),
                !command.options.contains(where: { $0.name == option.name })
            else { continue }
            if let selector = other.selector { throw .needs(option.long, selector.long) }
            if let selector = forms.first?.selector {
                throw .either(selector.long, option.long, of: title)
            }
            throw misfit(of: nil) ?? .needs(option.long, other.label)
        }
    }

    private func checkOperands(of form: FormSyntax) throws(UsageFault) {
        let words = form.word == nil ? operands[...] : operands.dropFirst()
        let least = form.operands.reduce(0) { $0 + $1.minimum }
        let most = most(of: form)
        guard words.count >= least else {
            let operand = form.operands.first { $0.minimum > 0 && $0.missing != nil }
            throw misfit(of: form) ?? operand?.missing.map(UsageFault.badValue) ?? choice
                ?? .missingOperand(
                    form.operands.map(\.value.name).joined(separator: " "), of: title, call: call)
        }
        guard words.count <= most else {
            throw surplus(words[words.startIndex + most], form: form)
        }
        var rest = words
        for operand in form.operands {
            for word in rest.prefix(operand.maximum) {
                if word.isEmpty, let missing = operand.missing { throw .badValue(missing) }
                try operand.value.check(word, of: operand.value.name)
            }
            rest = rest.dropFirst(operand.maximum)
        }
    }

    private func surplus(_ word: String, form: FormSyntax) -> UsageFault {
        if let misfit = misfit(of: form) { return misfit }
        let larger = command.forms.first { $0.word == nil && most(of: $0) > most(of: form) }
        if let option = larger?.selector, form.selector == nil {
            return .wordNeedsOption(word, option: option.long, of: title, call: call)
        }
        if larger != nil, form.selector != nil, let choice { return choice }
        return .unwantedWord(word, of: title, call: call)
    }

    private func most(of form: FormSyntax) -> Int {
        form.operands.reduce(0) { sum, operand in
            let (total, isOverflow) = sum.addingReportingOverflow(operand.maximum)
            return isOverflow ? .max : total
        }
    }

    /// The program's own message for operands that do not fit.
    private func misfit(of form: FormSyntax?) -> UsageFault? {
        (form?.misuse ?? command.misuse).map(UsageFault.badValue)
    }

    /// The fault that one of two forms must be chosen; nil unless there are two, both with a label.
    private var choice: UsageFault? {
        let labels = command.forms.map(\.label)
        guard labels.count == 2, !labels.contains("") else { return nil }
        return .either(labels[0], labels[1], of: title)
    }
}
