import { isDevelopment } from './environment'
import { type PendingSignIn, takePendingSignIn } from './pending-sign-in'

/**
 * The session of the person in this tab. A new tab takes it from an open one, and all tabs lose it together. It is in no
 * cookie, so no other site can use it, and it ends with the last tab.
 */
const key = 'ecm-token'
const activeKey = 'ecm-active-at'

type Message =
  | { type: 'ask'; id: string }
  | { type: 'answer'; id: string; token: string; activeAt: number }
  /** Somebody signed in. Tabs that wait for a sign-in take it too. */
  | { type: 'began'; token: string }
  | { type: 'ended'; token: string; isExpired: boolean }

const channel = new BroadcastChannel('ecm-session')
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- Only pages of this origin hear a channel.
const post = (message: Message): void => channel.postMessage(message)

const listeners = new Set<() => void>()
const announce = () => listeners.forEach((listener) => listener())

/** The access token of the person in this tab. Null if nobody is signed in. */
export const readToken = (): string | null => sessionStorage.getItem(key)

let expired = false
/** True if the last session ended because the service refused its token, and not because the person left. */
export const hasExpired = (): boolean => expired

function write(token: string | null): void {
  if (token === null) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, token)
  announce()
}

/** Signs in here, and in tabs in which nobody is signed in. */
export function storeToken(token: string): void {
  write(token)
  post({ type: 'began', token })
}

/** Forgets the token in all tabs, because it is not valid any more or because the person leaves. */
export function forgetToken(end: { isExpired: boolean }): void {
  const token = readToken()
  if (token === null) return
  expired = end.isExpired
  write(null)
  post({ type: 'ended', token, isExpired: expired })
}

/** Calls the listener when somebody signs in or out. Returns the function that ends this. */
export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const readActiveAt = (): number => Number(sessionStorage.getItem(activeKey))

function listen(): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const token = readToken()
    if (data.type === 'ask' && token !== null) post({ type: 'answer', id: data.id, token, activeAt: readActiveAt() })
    if (data.type === 'began' && token === null) write(data.token)
    if (data.type === 'ended' && token === data.token) {
      expired = data.isExpired
      write(null)
    }
  })
  const noteActivity = () => sessionStorage.setItem(activeKey, String(Date.now()))
  addEventListener('focus', noteActivity)
  addEventListener('pointerdown', noteActivity)
}

/** Open tabs answer within a few milliseconds. */
const patienceMs = 150

/** Takes the session of the tab that was used last. Null if no tab has one. */
async function askTabs(): Promise<string | null> {
  const id = crypto.randomUUID()
  const answers: Extract<Message, { type: 'answer' }>[] = []
  const collect = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'answer' && data.id === id) answers.push(data)
  }
  channel.addEventListener('message', collect)
  post({ type: 'ask', id })
  await new Promise((resolve) => setTimeout(resolve, patienceMs))
  channel.removeEventListener('message', collect)
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    // The answer of a busy tab comes late.
    if (data.type === 'answer' && data.id === id && readToken() === null) write(data.token)
  })
  return answers.toSorted((one, other) => other.activeAt - one.activeAt)[0]?.token ?? null
}

/** The sign-in that the address of the page asks for, until somebody confirms or refuses it. */
let pending: PendingSignIn | null = null
export const readPendingSignIn = (): PendingSignIn | null => pending
export const forgetPendingSignIn = (): void => void (pending = null)

/** A token in the address may not replace the session of somebody else without a question. */
async function open(): Promise<void> {
  pending = takePendingSignIn()
  if (pending?.kind === 'token') {
    if (!isDevelopment) pending = null
    else if (readToken() === null || readToken() === pending.token) {
      sessionStorage.setItem(key, pending.token)
      pending = null
    }
  }
  if (readToken() === null) {
    const token = await askTabs()
    if (token !== null && readToken() === null) sessionStorage.setItem(key, token)
  }
}

listen()
await open()
