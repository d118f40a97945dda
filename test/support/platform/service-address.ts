// The command under test loads this file first: the addresses of deployed services lead to the stand-in of the platform.
const standIn = process.env['PLATFORM_STAND_IN'] ?? ''
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : String(input))
  if (url.protocol !== 'https:') return send(input, init)
  return send(`${standIn}/services/${url.host}${url.pathname}${url.search}`, init)
}
