/** A sign-in that an address asks for. */
export type PendingSignIn =
  /** `npm start` prints it, and only a server for development accepts it. */
  | { kind: 'token'; token: string }
  /** `createSignInLink` makes it. */
  | { kind: 'link'; secret: string }
  /** The answer of the identity provider. */
  | { kind: 'answer'; parameters: URLSearchParams }

const answerPath = '/console/sign-in'

/** Reads what an address asks for, and the address without it. */
export function parseAddress({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>): {
  pending: PendingSignIn | null
  address: string
} {
  const fragment = new URLSearchParams(hash.slice(1))
  const [token, secret] = [fragment.get('token'), fragment.get('link')]
  if (token !== null || secret !== null) {
    const pending: PendingSignIn = secret === null ? { kind: 'token', token: token ?? '' } : { kind: 'link', secret }
    return { pending, address: pathname + search }
  }
  const parameters = new URLSearchParams(search)
  if (pathname === answerPath && parameters.has('state'))
    return { pending: { kind: 'answer', parameters }, address: pathname }
  return { pending: null, address: pathname + search + hash }
}

/** Moves secrets from the address to this page, so that they are in no history and no screenshot. */
export function takePendingSignIn(): PendingSignIn | null {
  const { pending, address } = parseAddress(location)
  if (pending !== null) history.replaceState(null, '', address)
  return pending
}

/** The page to show after the sign-in: a page of the console, whatever the address says, and without a fragment. */
export function readTarget(to: string | undefined, origin: string): string {
  const url = to === undefined ? null : URL.parse(to, origin)
  const isPage = url?.origin === origin && /^\/console(\/|$)/.test(url.pathname) && url.pathname !== answerPath
  return isPage ? url.pathname + url.search : '/console/'
}
