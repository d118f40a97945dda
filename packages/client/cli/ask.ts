import { confirm, isCancel, select, text } from '@clack/prompts'
import { UsageError } from './errors.ts'
import { cleanText } from './output.ts'

interface Choice<Value> {
  value: Value
  label: string
  hint?: string
}

const maxItems = 12

/** True if a person can be asked. Questions go to stderr, so that stdout has data alone. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY

function readAnswer<Value>(answer: Value): Exclude<Value, symbol> {
  if (isCancel(answer)) throw new UsageError('Cancelled.')
  return answer as Exclude<Value, symbol>
}

const askYesNo = async (question: string): Promise<boolean> =>
  readAnswer(await confirm({ message: cleanText(question), output: process.stderr }))

export const askText = async (question: string): Promise<string> =>
  readAnswer(await text({ message: cleanText(question), output: process.stderr })).trim()

export async function choose<Value extends string>(
  message: string,
  choices: readonly Choice<Value>[],
  initialValue?: Value,
): Promise<Value> {
  const options = choices.map(({ value, label, hint }) => ({
    value,
    label: cleanText(label),
    ...(hint === undefined ? {} : { hint: cleanText(hint) }),
  }))
  const selected = initialValue === undefined ? {} : { initialValue }
  const answer = await select<string>({
    message: cleanText(message),
    options,
    ...selected,
    maxItems,
    output: process.stderr,
  })
  return readAnswer(answer) as Value
}

/** Asks before work that cannot be taken back. In a pipe `--yes` has to be the answer already. */
export async function confirmWork(question: string, options: { yes?: boolean; otherwise: string }): Promise<void> {
  if (options.yes) return
  if (!canAsk()) throw new UsageError(`Without a terminal, add --yes. ${options.otherwise}`)
  if (!(await askYesNo(question))) throw new UsageError(options.otherwise)
}
