// The configuration of the documentation site. sidebar.json comes from docs/README.md and the
// generated reference.
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'

export default defineConfig({
  title: 'batchwright',
  description: 'Describe a shared GKE batch or AI cluster in one file, and review every change.',
  base: process.env.SITE_BASE ?? '/',
  outDir: './dist',
  markdown: { theme: { light: 'github-light', dark: 'github-dark' } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: JSON.parse(readFileSync(new URL('../sidebar.json', import.meta.url), 'utf8')),
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Guides', link: '/guide' },
      { text: 'Reference', link: '/reference/fields/' },
    ],
  },
})
