/**
 * The address by which clients reach what was asked for: under PUBLIC_URL where that is set, because anybody can name any
 * host in a request.
 */
export function publicAddress(publicUrl: string, requested: string): URL {
  const url = new URL(requested)
  return URL.canParse(publicUrl) ? new URL(publicUrl.replace(/\/+$/, '') + url.pathname + url.search) : url
}

/** The address of another path of the service, for whoever asked for `requested`. */
export const addressOf = (publicUrl: string, requested: string, path: string): string =>
  publicAddress(publicUrl, new URL(path, requested).href).href
