/**
 * The address by which clients reach what was asked for: under PUBLIC_URL where that is set, because anybody can name any
 * host in a request.
 */
export function publicAddress(publicUrl: string, requested: string): URL {
  const url = new URL(requested)
  return URL.canParse(publicUrl) ? new URL(publicUrl + url.pathname + url.search) : url
}
