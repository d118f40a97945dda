import './mantine.css'
import '@mantine/notifications/styles.css'
import './theme.css'
import { createTheme, type CSSVariablesResolver, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { queries } from './api'
import { router } from './router'
import { onTokenChange, readToken } from './session'
import { isHeld } from './unsaved'
import { words } from './words'

// A deployment removes the chunks of the page that is open. Load the new page once. While versions change, a chunk can
// be answered 404, so the browser must forget that answer first.
addEventListener('vite:preloadError', async (event) => {
  const last = Number(sessionStorage.getItem('reloaded'))
  if (Date.now() - last < 10_000) return
  sessionStorage.setItem('reloaded', String(Date.now()))
  const chunk = event.payload.message.split(' ').find((part) => part.includes('/assets/'))
  if (chunk) await fetch(chunk, { cache: 'reload' }).catch(() => undefined)
  location.reload()
})

// Pages behind the sign-in lead there when the session has ended.
onTokenChange(() => {
  if (readToken() === null && !isHeld()) void router.invalidate()
})

// The policy of the page allows <style> elements with this nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

const closeButton = { closeButtonProps: { 'aria-label': words.common.close } }

const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  cursorType: 'pointer',
  defaultRadius: 'md',
  autoContrast: true,
  components: {
    Notification: { defaultProps: closeButton },
    Modal: { defaultProps: closeButton },
    Drawer: { defaultProps: closeButton },
    // A header in a dialog is not that of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
    DrawerHeader: { defaultProps: { role: 'none' } },
    Select: { defaultProps: { comboboxProps: { shadow: 'md' } } },
    Table: { defaultProps: { verticalSpacing: 5, horizontalSpacing: 'xs' } },
  },
})

// Mantine's default text colours miss WCAG AA; these reach 4.5:1 on every surface, highlighted rows included. A style
// sheet cannot set them: the provider's <style> comes later with the same specificity.
const colours: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b6470',
    '--mantine-color-placeholder': '#69717c',
    '--mantine-color-anchor': colors.indigo[8],
    '--mantine-color-error': '#c92a2a',
  },
  dark: {
    '--mantine-color-dimmed': '#a5afbd',
    '--mantine-color-placeholder': '#98a2b0',
    '--mantine-color-anchor': colors.indigo[3],
    '--mantine-color-error': '#ff8787',
  },
})

createRoot(document.getElementById('root') as HTMLElement).render(
  <MantineProvider cssVariablesResolver={colours} getStyleNonce={() => nonce} theme={theme} defaultColorScheme="auto">
    <Notifications />
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
)
