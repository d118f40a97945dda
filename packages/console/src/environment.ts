/** Reads what the service says about itself in the page. */
const readMeta = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content

/** True if the service says that it is a server for development. Production ignores tokens in addresses. */
export const isDevelopment = import.meta.env.DEV || readMeta('environment') === 'development'

/** True if nothing is sent, posted or paid until the operator releases it. */
export const isOutgoingHeld = readMeta('outgoing') === 'held'
