const key = 'ecm-token'

const listeners = new Set<() => void>()
const announce = () => listeners.forEach((listener) => listener())

/** Moves a token from the address to this tab. A fragment never reaches the server. */
function takeTokenFromAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return
  sessionStorage.setItem(key, token)
  history.replaceState(null, '', location.pathname + location.search)
}
takeTokenFromAddress()

/** The access token of the person in this tab. Null if nobody is signed in. */
export const readToken = (): string | null => sessionStorage.getItem(key)

export function storeToken(token: string): void {
  sessionStorage.setItem(key, token)
  announce()
}

export function forgetToken(): void {
  sessionStorage.removeItem(key)
  announce()
}

/** Calls the listener when somebody signs in or out. Returns the function that ends this. */
export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
