// Unpacks the browser, its libraries and its fonts into this folder, which TMPDIR names: the package's own default is a
// folder that every user of the machine can write to.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflate } from '@sparticuz/chromium'

const folder = dirname(fileURLToPath(import.meta.url))
const source = join(folder, 'node_modules', '@sparticuz', 'chromium', 'bin')
await Promise.all(['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((name) => inflate(join(source, name))))
// Without any font pages look empty and typing does nothing, while assertions on the elements pass.
writeFileSync(
  join(folder, 'fonts.conf'),
  `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>
`,
)
