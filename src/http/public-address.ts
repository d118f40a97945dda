/**
 * The address by which clients reach the requested path. It begins with PUBLIC_URL where that is set, because a request
 * can name any host.
 */
export function buildPublicUrl(publicUrl: string, requested: string): URL {
  const url = new URL(requested)
  return URL.canParse(publicUrl) ? new URL(publicUrl.replace(/(?<!\/)\/+$/, '') + url.pathname + url.search) : url
}

/** The address of another path of the service, for the client that requested `requested`. */
export const buildAddress = (publicUrl: string, requested: string, path: string): string =>
  buildPublicUrl(publicUrl, new URL(path, requested).href).href
