import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds of processor by part of the Worker's program. */
export type Parts = Map<string, number>

interface Frame {
  functionName: string
  scriptId: string
  lineNumber: number
}

interface Node {
  id: number
  callFrame: Frame
  children?: number[]
}

interface CpuProfile {
  nodes: Node[]
  samples: number[]
  timeDeltas: number[]
}

interface Answer {
  id?: number
  method?: string
  params?: { scriptId: string; url: string; length: number }
  result?: Record<string, unknown>
}

/** Which file of the sources each line of the bundle is of: the bundler names them in comments. */
function filesOf(bundle: string): string[] {
  let file = ''
  return bundle.split('\n').map((line) => (file = /^\s*\/\/ ((?:\S*\/)?\S+\.(?:ts|m?js))$/.exec(line)?.[1] ?? file))
}

/** The inspector of a server on this machine. */
async function connect(port: number) {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[]
  // The inspector lets in who names an origin on this machine. Node takes headers there, and its types know none.
  const named = { headers: { origin: 'http://localhost' } } as unknown as string[]
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '', named)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  const pending = new Map<number, (result: Record<string, unknown>) => void>()
  const scripts: { scriptId: string; length: number }[] = []
  socket.addEventListener('message', ({ data }) => {
    const { id = 0, method, params, result = {} } = JSON.parse(String(data)) as Answer
    if (method === 'Debugger.scriptParsed' && params) scripts.push(params)
    pending.get(id)?.(result)
    pending.delete(id)
  })
  let last = 0
  const send = <T>(method: string, params: object = {}): Promise<T> => {
    socket.send(JSON.stringify({ id: ++last, method, params }))
    return new Promise((resolve) => pending.set(last, resolve as (result: Record<string, unknown>) => void))
  }
  return { send, scripts, close: () => socket.close() }
}

/** Time of functions of no file of ours, such as `JSON.parse`, is time of the file that called them. */
function timesOf({ nodes, samples, timeDeltas }: CpuProfile, partOf: (frame: Frame) => string | null): Parts {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node])))
  const parts = new Map<number, string>()
  const partAt = (node: Node): string => {
    const found = parts.get(node.id)
    if (found !== undefined) return found
    const parent = parents.get(node.id)
    const part = partOf(node.callFrame) ?? (parent ? partAt(parent) : 'runtime')
    parts.set(node.id, part)
    return part
  }
  const times: Parts = new Map()
  for (const [at, sample] of samples.entries()) {
    const node = known.get(sample)
    if (!node) continue
    const part = partAt(node)
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[at] ?? 0) / 1000)
  }
  return times
}

const notOfFiles = ['(garbage collector)', '(program)', '(idle)']

/** Profiles the Worker until `stop`, which answers the times of its files. */
export async function startProfile(port: number): Promise<{ stop: () => Promise<Parts> }> {
  const { send, scripts, close } = await connect(port)
  await send('Debugger.enable')
  await wait(200)
  const [bundle] = scripts.toSorted((one, other) => other.length - one.length)
  const { scriptSource } = await send<{ scriptSource: string }>('Debugger.getScriptSource', {
    scriptId: bundle?.scriptId,
  })
  await send('Debugger.disable')
  const files = filesOf(scriptSource)
  await send('Profiler.enable')
  await send('Profiler.setSamplingInterval', { interval: 200 })
  await send('Profiler.start')
  return {
    stop: async () => {
      const { profile } = await send<{ profile: CpuProfile }>('Profiler.stop')
      close()
      return timesOf(profile, ({ functionName, scriptId, lineNumber }) => {
        if (notOfFiles.includes(functionName)) return functionName
        return scriptId === bundle?.scriptId ? (files[lineNumber] ?? null) : null
      })
    },
  }
}
