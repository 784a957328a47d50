// SPDX-License-Identifier: Apache-2.0
/// The style sheet of all pages, for light and dark colour schemes.
///
/// Text has a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3) and the borders of controls of 3:1
/// (1.4.11). Pages can be read from a width of 320 pixels on, and with text at twice its size.
enum Style {
    static let sheet = """
        :root {
            color-scheme: light dark;
            --ink: #1c1c21; --page: #ffffff; --soft: #f2f2f5; --line: #6f6f7a;
            --link: #0a4f9e; --alarm: #a3151b;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --ink: #ededf2; --page: #16161a; --soft: #25252b; --line: #90909c;
                --link: #9fc8ff; --alarm: #ffa3a3;
            }
        }
        * { box-sizing: border-box; }
        body {
            margin: 0; background: var(--page); color: var(--ink);
            font: 1.0625rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
        }
        header, main { max-width: 44rem; margin: 0 auto; padding: 0 1rem; }
        header {
            display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center;
            justify-content: space-between; border-bottom: 1px solid var(--line);
        }
        main { padding-bottom: 3rem; }
        h1 { font-size: 1.75rem; line-height: 1.2; }
        h2 { font-size: 1.375rem; margin-top: 2.5rem; }
        h3 { font-size: 1.0625rem; margin: 0; }
        a { color: var(--link); }
        label { display: block; font-weight: bold; }
        input, button {
            font: inherit; color: inherit; border: 1px solid var(--line); border-radius: 0.25rem;
            min-height: 2.75rem; padding: 0.375rem 0.75rem; max-width: 100%;
        }
        input { width: 24rem; background: var(--page); }
        button { background: var(--soft); font-weight: bold; }
        :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        .alarm { color: var(--alarm); font-weight: bold; }
        .shown {
            font: 1.25rem/1.4 ui-monospace, monospace; white-space: pre-wrap; margin: 1rem 0;
            border: 2px solid var(--line); border-radius: 0.25rem; padding: 1rem;
            background: var(--soft);
        }
        ul.records { list-style: none; padding: 0; }
        ul.records > li { border-top: 1px solid var(--line); padding: 0.75rem 0; }
        ul.records .text { white-space: pre-wrap; }
        dl { margin: 0; }
        dl > div { display: flex; flex-wrap: wrap; gap: 0 0.5rem; }
        dt::after { content: ":"; }
        dd { margin: 0; }

        """
}
