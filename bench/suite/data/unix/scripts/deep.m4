define(`down', `down(down)')down
