import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './support/paths.ts'
import { startNode } from './support/processes.ts'

// Runs the sample of every operation against the Worker, and stores the answers as examples of the document.
let output = ''
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const args = [vitest, 'run', '--project=examples', '--reporter=default', '--disable-console-intercept']
const { code } = await startNode(args, {
  env: { NO_COLOR: '1', FORCE_COLOR: '0' },
  onOutput: (text) => (output += text),
}).ended
if (code !== 0) {
  console.error(output)
  process.exit(1)
}
const matches = [...output.matchAll(/^example (\w+) (\{.*\})$/gm)]
const examples = Object.fromEntries(matches.map(([, id = '', body = '']) => [id, JSON.parse(body) as unknown]))
await writeFile(join(root, 'src', 'http', 'document', 'examples.json'), `${JSON.stringify(examples, null, 2)}\n`)
console.log(`${matches.length} examples`)
