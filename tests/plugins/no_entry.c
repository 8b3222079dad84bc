// A library that is no plug-in.
int weir_plugin_entrance(void);
int weir_plugin_entrance(void) { return 1; }
