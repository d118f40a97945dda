/** True if the service says that it is a server for development. Production ignores tokens in addresses. */
export const isDevelopment =
  import.meta.env.DEV || document.querySelector<HTMLMetaElement>('meta[name=environment]')?.content === 'development'
