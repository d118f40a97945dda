import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

export interface Questions {
  /** False where nobody can answer, such as in a workflow. */
  canAsk: boolean
  /** Returns the trimmed answer, or the standard when it is empty. */
  ask: (question: string, standard?: string) => Promise<string>
  /** Asks for a secret, which is not shown while it is typed. */
  askSecret: (question: string) => Promise<string>
  confirm: (question: string) => Promise<boolean>
}

interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

/** Asks at the terminal of this process, if it has one. Questions end with the signal, and with the terminal. */
export function createQuestions(
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
  signal?: AbortSignal,
): Questions {
  const canAsk = input.isTTY === true && output.isTTY === true

  async function read(question: string, isSecret: boolean): Promise<string> {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
    if (isSecret) output.write(question)
    const lines = createInterface({ input, output: isSecret ? silent : output, terminal: true })
    const interruption = new Promise<never>((_resolve, reject) => {
      const interrupt = () => reject(new Error('Interrupted. Run the command again to go on.'))
      // Without `close`, Ctrl-D would leave the question open for ever.
      lines.once('SIGINT', interrupt).once('close', interrupt)
      signal?.addEventListener('abort', interrupt, { once: true })
    })
    try {
      return (await Promise.race([lines.question(isSecret ? '' : question), interruption])).trim()
    } finally {
      lines.close()
      if (isSecret) output.write('\n')
    }
  }

  return {
    canAsk,
    ask: async (question, standard = '') =>
      (await read(standard ? `${question} [${standard}]: ` : `${question}: `, false)) || standard,
    askSecret: (question) => read(`${question}: `, true),
    confirm: async (question) => ['y', 'yes'].includes((await read(`${question} [y/N] `, false)).toLowerCase()),
  }
}
