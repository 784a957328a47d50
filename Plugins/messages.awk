# SPDX-License-Identifier: Apache-2.0
# Writes what Plugins/Listing adds for messages: of each frame, from its properties alone, the
# initialiser and how it is encoded and decoded.
#
#   awk -f messages.awk -v output=FILE -v roots='FrameContent …' SOURCE…
#   awk -f messages.awk -v output=FILE -v initialisers=1 SOURCE…
#
# A frame is a structure at the top level that conforms to one of `roots`, or to a protocol of the
# sources that refines one. Its fields are its stored properties:
#
# - A property's field has the property's name, unless a comment behind the property names another one:
#   `// .since`. The fields are written and read in the order of their tags.
# - What is nil is left out. So is a flag that is not set, unless the comment says `stated`: it is then
#   0 or 1.
# - A property that is a frame itself, or may be one, stands for that frame's fields.
# - `check()`, where a structure has it, is called before it is written and after it is read.
#
# What a structure declares itself is not written again: its initialiser, `put(into:)`, `init(from:)`.
# A request that has its initialiser from here also gets a constructor, by the name of its verb:
# `Request.enable(account:keyring:)`.
#
# With `initialisers`, each package structure at the top level that has properties and declares no
# initialiser gets one with its properties in their order.

# Ends all with what is wrong in the present line.
function refuse(text) {
    print FILENAME ":" FNR ": error: " text > "/dev/stderr"
    failed = 1
    exit 1
}

# The names behind the colon of a declaration.
function parents(text,    list, count, i, names) {
    if (text !~ /:/) return ""
    sub(/^[^:]*:/, "", text)
    sub(/[ \t]*(where .*)?\{.*/, "", text)
    count = split(text, list, /[,&]/)
    for (i = 1; i <= count; i++) {
        gsub(/[ \t]/, "", list[i])
        names = names " " list[i]
    }
    return names
}

FNR == 1 { within = pending = imports = ""; isRequest = 0 }
/^import / { imports = imports " " $NF }

# A field's tag.
/^    package static (var|let) [a-z][A-Za-z0-9]*: Field \{ Field\([0-9]+/ {
    text = $0
    sub(/.*Field\(/, "", text)
    tag[substr($4, 1, length($4) - 1)] = text + 0
}
/^    package static (var|let) [a-z][A-Za-z0-9]*: Field \{$/ { begun = substr($4, 1, length($4) - 1); next }
begun != "" {
    text = $0
    sub(/.*Field\(/, "", text)
    tag[begun] = text + 0
    begun = ""
}

# The name of a request, and the constructors that are declared.
/^    package static let verb = Verb\(.*name: "/ {
    text = $0
    sub(/.*name: "/, "", text)
    sub(/".*/, "", text)
    verb[within] = text
}
/^    package static (func|let|var) [a-z]/ && isRequest {
    text = $4
    sub(/[^A-Za-z0-9].*/, "", text)
    hasConstructor[text] = 1
}

/^(package )?(struct|protocol) [A-Z]/ || pending != "" {
    pending = pending $0
    if ($0 !~ /\{/) next
    name = pending
    sub(/.*(struct|protocol) /, "", name)
    sub(/[^A-Za-z0-9_].*/, "", name)
    above[name] = parents(pending)
    if (pending !~ /^(package )?protocol /) {
        within = name
        order[++structures] = name
        place[name] = FILENAME ":" FNR
        if (pending ~ /^package /) isShared[name] = 1
        used[name] = imports
        # A structure without members ends where it begins.
        if (pending ~ /\{ *\}/) within = ""
    }
    pending = ""
    next
}
/^extension Request \{/ { isRequest = 1 }
/^extension [A-Z]/ {
    extended = $2
    sub(/[^A-Za-z0-9_].*/, "", extended)
}
/^\}/ { within = extended = ""; isRequest = 0 }

# A check in an extension would be overlooked.
extended != "" && /^    ([a-z]+ )*func check\(/ { stray[extended] = FILENAME ":" FNR }
within == "" { next }

/^    (package )?init\(from frame: / { hasReading[within] = 1 }
/^    (package )?func put\(into frame: / { hasWriting[within] = 1 }
/^    ((package|private|fileprivate|public) )*init[?<(]/ && !/init\(from frame: / { hasInitialiser[within] = 1 }
/^    ([a-z]+ )*func check\(/ {
    if ($0 !~ /^    func check\(\) throws\(WireFault\) \{$/) suspicious[within] = FILENAME ":" FNR
    hasCheck[within] = 1
}

# A property that is neither computed nor in the form below would be overlooked.
/^    (@[^ ]+ )?([a-z]+(\([a-z]+\))? )*(var|let) / && !/ static / && !/^[^=]*\{/ && \
    !/^    (package )?(var|let) [a-z][A-Za-z0-9]*(: [^={]*[^={ ])?( = [^{]*)?$/ {
    suspicious[within] = FILENAME ":" FNR
}

# A stored property.
/^    (package )?(var|let) [a-z][A-Za-z0-9]*(: | = )/ {
    text = $0
    field = ""
    stated = sub(/ stated$/, "", text)
    if (match(text, /  \/\/ \.[a-z][A-Za-z0-9]*$/)) {
        field = substr(text, RSTART + 6)
        text = substr(text, 1, RSTART - 1)
    } else if (stated) refuse("'stated' stands behind the name of a field")
    if (text ~ /\{/) next
    sub(/^    (package )?(var|let) /, "", text)
    property = text
    sub(/[^A-Za-z0-9].*/, "", property)
    if (!sub(/^[A-Za-z0-9]*: /, "", text)) text = " = "
    standard = ""
    if (match(text, / = /)) {
        standard = substr(text, RSTART)
        text = substr(text, 1, RSTART - 1)
    }
    count = ++properties[within]
    names[within, count] = property
    types[within, count] = text
    standards[within, count] = standard
    fields[within, count] = field == "" ? property : field
    if (stated) types[within, count] = text " stated"
}

# Whether a type conforms to one of the roots.
function isFrame(name,    list, count, i) {
    if (name in root) return 1
    count = split(above[name], list, " ")
    for (i = 1; i <= count; i++) if (list[i] != name && isFrame(list[i])) return 1
    return 0
}

# Whether a type is itself a frame of the sources, whose fields are then among the others.
function isGroup(type) {
    sub(/\?$/, "", type)
    return type in properties && isFrame(type)
}

# One field that is written: the value is `path`, or nothing if that is nil.
function written(type, field, path, indent) {
    if (type == "Bool") return indent "try frame.put(." field ", ifSet: " path ")\n"
    if (type ~ /^Bool( stated|\?)$/)
        return indent "try frame.put(." field ", flagIfPresent: " path ")\n"
    if (type ~ /\?$/)
        return indent "if let value = " path " { try frame.put(." field ", value: value) }\n"
    return indent "try frame.put(." field ", value: " path ")\n"
}

# The expression that reads one field.
function reading(type, field) {
    if (type == "Bool stated") return "try frame.flag(." field ")"
    if (type == "Bool") return "try frame.isSet(." field ")"
    if (type == "Bool?") return "try frame.flagIfPresent(." field ")"
    if (type ~ /\?$/) return "try frame.valueIfPresent(." field ")"
    return "try frame.value(." field ")"
}

# Fills `leaf…` with the fields of a structure, in the order of their tags; returns their number.
function collect(name,    a, b, inner, count) {
    count = 0
    for (a = 1; a <= properties[name]; a++) {
        inner = types[name, a]
        sub(/\?$/, "", inner)
        if (!isGroup(inner)) {
            count = add(count, name, a, types[name, a], fields[name, a], names[name, a], "")
            continue
        }
        if (inner in hasWriting || inner in hasReading)
            trouble(name, names[name, a] ": " inner " has a coding of its own")
        for (b = 1; b <= properties[inner]; b++) {
            if (isGroup(types[inner, b])) trouble(name, "a group within a group is not supported")
            count = add(count, name, a, types[inner, b], fields[inner, b], names[inner, b], names[name, a])
        }
    }
    return count
}

function add(count, name, place, type, field, property, group,    b) {
    if (type == "") trouble(name, property ": its type must be stated")
    if (type ~ / stated$/ && type != "Bool stated") trouble(name, property ": only a Bool is \047stated\047")
    if (!(field in tag)) trouble(name, property ": there is no field \047" field "\047")
    if (tag[field] < 1) trouble(name, property ": the tag of \047" field "\047 is not a number here")
    for (b = 1; b <= count; b++)
        if (tag[leafField[b]] == tag[field]) trouble(name, property ": another property has this field")
    for (b = count; b >= 1 && tag[leafField[b]] > tag[field]; b--) {
        leafField[b + 1] = leafField[b]
        leafType[b + 1] = leafType[b]
        leafName[b + 1] = leafName[b]
        leafGroup[b + 1] = leafGroup[b]
        leafPlace[b + 1] = leafPlace[b]
    }
    leafField[b + 1] = field
    leafType[b + 1] = type
    leafName[b + 1] = property
    leafGroup[b + 1] = group
    leafPlace[b + 1] = place
    return count + 1
}

function trouble(name, text) {
    print place[name] ": error: " name ": " text > "/dev/stderr"
    failed = 1
    exit 1
}

# The body that writes the fields of a structure. The fields of a group that may be absent follow one
# another.
function writing(name, count,    a, text, isOptional, inner) {
    text = ""
    for (a = 1; a <= properties[name]; a++) {
        inner = types[name, a]
        isOptional = sub(/\?$/, "", inner)
        if (isGroup(inner) && inner in hasCheck)
            text = text "        try " names[name, a] (isOptional ? "?" : "") ".check()\n"
    }
    for (a = 1; a <= count; a++) {
        isOptional = leafGroup[a] != "" && types[name, leafPlace[a]] ~ /\?$/
        if (!isOptional) {
            text = text written(leafType[a], leafField[a], \
                (leafGroup[a] == "" ? "" : leafGroup[a] ".") leafName[a], "        ")
            continue
        }
        if (a == 1 || leafGroup[a - 1] != leafGroup[a])
            text = text "        if let " leafGroup[a] " {\n"
        text = text written(leafType[a], leafField[a], leafGroup[a] "." leafName[a], "            ")
        if (a == count || leafGroup[a + 1] != leafGroup[a]) text = text "        }\n"
    }
    return text
}

# The body that reads them.
function decoding(name, count,    a, b, c, text, inner, arguments, isOptional, variable, indent, type, left) {
    text = ""
    for (a = 1; a <= count; a++) {
        if (leafGroup[a] == "") {
            text = text "        " leafName[a] " = " reading(leafType[a], leafField[a]) "\n"
            continue
        }
        inner = types[name, leafPlace[a]]
        isOptional = sub(/\?$/, "", inner)
        variable = leafGroup[a] "_" leafName[a]
        type = leafType[a]
        sub(/ stated$/, "", type)
        indent = "        "
        if (isOptional && (a == 1 || leafGroup[a - 1] != leafGroup[a])) {
            if (leafType[a] ~ /\?$|^Bool$/) trouble(name, leafName[a] ": it does not show whether " inner " is there")
            for (b = a + 1; b <= count; b++)
                if (leafGroup[b] == leafGroup[a] && leafGroup[b - 1] != leafGroup[b])
                    trouble(name, "fields lie between those of " leafGroup[a] ", which may be absent")
            text = text indent "if let " variable ": " type " = " reading(type "?", leafField[a]) " {\n"
        } else {
            if (isOptional) indent = indent "    "
            text = text indent "let " variable ": " type " = " reading(leafType[a], leafField[a]) "\n"
        }
        left = 0
        for (b = a + 1; b <= count; b++) if (leafGroup[b] == leafGroup[a]) left = 1
        if (left) continue
        if (isOptional) indent = "            "
        arguments = ""
        for (c = 1; c <= properties[inner]; c++)
            arguments = arguments (c > 1 ? ", " : "") names[inner, c] ": " leafGroup[a] "_" names[inner, c]
        text = text indent leafGroup[a] " = " inner "(" arguments ")\n"
        if (inner in hasCheck) text = text indent "try " leafGroup[a] (isOptional ? "?" : "") ".check()\n"
        if (isOptional) text = text "        } else {\n            " leafGroup[a] " = nil\n        }\n"
    }
    return text
}

END {
    if (failed) exit 1
    count = split(roots, list, " ")
    for (i = 1; i <= count; i++) root[list[i]] = 1
    body = ""
    for (s = 1; s <= structures; s++) {
        name = order[s]
        isCoded = isFrame(name)
        count = properties[name] + 0
        if (!isCoded && (!initialisers || !(name in isShared) || !count)) continue
        fieldCount = 0
        if (isCoded && name in stray) {
            print stray[name] ": error: " name ": check() belongs into the structure" > "/dev/stderr"
            exit 1
        }
        if (isCoded && name in suspicious) {
            print suspicious[name] ": error: " name ": this cannot stand in a frame" > "/dev/stderr"
            exit 1
        }
        if (isCoded && name in hasCheck && (name in hasWriting || name in hasReading))
            trouble(name, "it has a coding of its own, which must check by itself")
        if (isCoded && (!(name in hasWriting) || !(name in hasReading))) fieldCount = collect(name)
        text = parameters = arguments = ""
        for (a = 1; a <= count; a++) {
            type = types[name, a]
            sub(/ stated$/, "", type)
            parameters = parameters (a > 1 ? ", " : "") names[name, a] ": " type standards[name, a]
            arguments = arguments (a > 1 ? ", " : "") names[name, a] ": " names[name, a]
        }
        if (!(name in hasInitialiser)) {
            # The last parameter sets it apart from the one that the compiler makes for the module itself.
            text = text "    package init(" parameters (count ? ", " : "") "_: Void = ()) {\n"
            for (a = 1; a <= count; a++)
                text = text "        self." names[name, a] " = " names[name, a] "\n"
            text = text "    }\n"
        }
        check = name in hasCheck ? "        try check()\n" : ""
        if (isCoded && !(name in hasWriting)) {
            text = text "    package func put(into frame: inout FrameWriter) throws(WireFault) {\n" check
            text = text writing(name, fieldCount)
            text = text "    }\n"
        }
        if (isCoded && !(name in hasReading)) {
            text = text "    package init(from frame: inout FrameReader) throws(WireFault) {\n"
            text = text decoding(name, fieldCount)
            text = text check "    }\n"
        }
        if (text == "") continue
        body = body "\nextension " name " {\n" text "}\n"
        if (name in verb && !(name in hasInitialiser) && !(verb[name] in hasConstructor))
            constructors = constructors "    package static " \
                (count ? "func " verb[name] "(" parameters ") -> Request" : "var " verb[name] ": Request") \
                " { Request(" name "(" arguments ")) }\n"
        most = split(used[name], list, " ")
        for (i = 1; i <= most; i++) needed[list[i]] = 1
    }
    printf "// Written by Plugins/Listing; not a source.\n" > output
    for (module in needed) print "import " module > output
    printf "%s", body > output
    if (constructors != "") printf "\nextension Request {\n%s}\n", constructors > output
}
