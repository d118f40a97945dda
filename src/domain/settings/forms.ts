import { signInMethods } from '../accounts/sign-in.ts'
import { isCell } from '../ids.ts'
import { parseMailbox } from '../messaging/mailbox.ts'
import { isWebAddress } from '../text/text.ts'

/** The form that the text of a setting has to have. */
export interface Form<Value> {
  /** Reads a text that is not blank. Null if it has another form. */
  read: (text: string) => Value | null
  /** Completes the sentence "It must be …". */
  description: string
}

const trimSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '')

const hasWebScheme = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const readIf =
  (isRight: (text: string) => boolean) =>
  (text: string): string | null =>
    isRight(text) ? text : null

const splitList = (text: string): string[] => text.split(',').map((part) => part.trim())

/** Reads a list whose entries are separated by commas. Null if an entry has another form. */
const listOf =
  <Value>(readEntry: (text: string) => Value | null) =>
  (text: string): Value[] | null => {
    const entries = splitList(text).map(readEntry)
    return entries.includes(null) ? null : (entries as Value[])
  }

export const anyText: Form<string> = { read: (text) => text, description: 'a text' }

/** A token in the header of a request ends at a space. */
export const tokenText: Form<string> = {
  read: readIf((text) => /^[\x21-\x7e]+$/.test(text)),
  description: 'a text of letters, digits and signs, without spaces and line ends',
}

export const choice = <Name extends string>(...names: readonly Name[]): Form<Name> => ({
  read: (text) => names.find((name) => name === text) ?? null,
  description: `one of ${names.join(', ')}`,
})

export const flag: Form<boolean> = {
  read: (text) => (/^[01]$/.test(text) ? text === '1' : null),
  description: '0 or 1',
}

export const wholeNumber = (min: number, max: number, unit = ''): Form<number> => ({
  read: (text) => {
    const number = Number(text)
    return /^\d+$/.test(text.trim()) && number >= min && number <= max ? number : null
  },
  description: `a whole number${unit} from ${min} to ${max}`,
})

export const secondsList: Form<readonly number[]> = {
  read: listOf((part) => (/^\d+(\.\d+)?$/.test(part) ? Number(part) : null)),
  description: 'a list of seconds, for example 5,300,1800',
}

export const mailbox = {
  read: parseMailbox,
  description: 'a sender such as "Events <no-reply@example.com>"',
} satisfies Form<unknown>

/** The URL keeps its spelling, because an issuer is compared with the text that its tokens contain. */
export const issuer: Form<string> = {
  read: readIf(hasWebScheme),
  description: 'a URL such as https://login.example.com',
}

/** The URL has no slash at the end. */
export const apiBase: Form<string> = {
  read: (text) => (hasWebScheme(text) ? trimSlash(text) : null),
  description: 'a URL such as https://api.example.com',
}

/** The URL is ASCII, because links and headers begin with it, and has no slash at the end. */
export const publicUrl: Form<string> = {
  read: (text) => (hasWebScheme(text) ? trimSlash(new URL(text).href) : null),
  description: 'a URL such as https://events.example.com',
}

export const requestUrl: Form<string> = {
  read: readIf(isWebAddress),
  description: 'a URL such as https://scanner.example.com/scan',
}

/** The key of Standard Webhooks. */
export const webhookSecret: Form<string> = {
  read: readIf((text) => /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)),
  description: 'whsec_ and the base64 of 24 to 64 bytes, as echo whsec_$(openssl rand -base64 32) prints it',
}

const readOrigin = (text: string): string | null =>
  hasWebScheme(text) && trimSlash(text) === new URL(text).origin ? new URL(text).origin : null

export const origin: Form<string> = {
  read: readOrigin,
  description: 'a URL without a path, such as https://files.example.com',
}

export const originList: Form<readonly string[]> = {
  read: listOf((part) => (readOrigin(part) === part ? part : null)),
  description:
    'a list of origins such as https://shop.example.com, separated by commas, each without a slash at the end',
}

export const signInMethodList = {
  read: listOf((part) => signInMethods.find((name) => name === part) ?? null),
  description: `a list of ${signInMethods.join(', ')}, separated by commas`,
} satisfies Form<unknown>

export const teamDomain: Form<string> = {
  read: readIf((text) => /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,5}$/.test(text)),
  description: 'a domain such as example.cloudflareaccess.com',
}

export const cell: Form<string> = {
  read: readIf(isCell),
  description: 'two characters of a to z and 0 to 9',
}

/** Otherwise each part of the key would become a key as soon as it is a previous one. */
export const linkKey: Form<string> = {
  read: (text) => (text.includes(',') ? null : text.trim()),
  description: 'a text without a comma, which separates previous keys',
}

export const linkKeyList: Form<readonly string[]> = {
  read: (text) => splitList(text).filter((part) => part !== ''),
  description: 'a list of keys, separated by commas',
}

export const pem = (label: string): Form<string> => ({
  read: readIf((text) => text.includes(`-----BEGIN ${label}-----`)),
  description: `a PEM text that begins with -----BEGIN ${label}-----`,
})

const isServiceAccount = (text: string): boolean => {
  try {
    const key = JSON.parse(text) as Record<string, unknown> | null
    return typeof key?.['client_email'] === 'string' && typeof key['private_key'] === 'string'
  } catch {
    return false
  }
}

export const serviceAccount: Form<string> = {
  read: readIf(isServiceAccount),
  description: 'the JSON of a key file with client_email and private_key',
}
